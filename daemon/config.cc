#include "daemon/config.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "daemon/settings.h"

namespace torc {
namespace {

constexpr uint16_t kDefaultClientPort = 7001;
constexpr uint16_t kDefaultPeerPort = 7101;
constexpr uint16_t kDefaultHttpPort = 7201;
constexpr size_t kNameBytesMax = 128;

// Turns settings into a Config one by one; the first error is kept and wins.
class Checker {
 public:
  Checker(const Settings& settings, const Machine& machine)
      : settings_(settings), machine_(machine) {}

  std::expected<Config, ConfigError> check() {
    Config config;
    read_identity(config);
    read_addresses(config);
    read_founding(config);
    if (const Setting* s = find("durability")) {
      if (s->text != "sync" && s->text != "interval") fail(*s, "expected sync or interval");
      config.durability_sync = s->text == "sync";
    }
    if (const Setting* s = find("log-level")) {
      constexpr std::array kLevels = {"debug", "info", "warning", "error"};
      if (std::find(kLevels.begin(), kLevels.end(), s->text) == kLevels.end()) {
        fail(*s, "expected debug, info, warning or error");
      }
      config.log_level = s->text;
    }
    if (config.name.empty()) {
      config.name = machine_.host_name + "-" + std::to_string(config.peer.port);
    }
    if (error_) return std::unexpected(*error_);
    return config;
  }

 private:
  const Setting* find(std::string_view name) const {
    const auto at = settings_.find(name);
    return at == settings_.end() ? nullptr : &at->second;
  }
  bool is_on(std::string_view name) const {
    const Setting* s = find(name);
    return s != nullptr && s->text == "true";
  }
  void fail(ConfigError error) {
    if (!error_) error_ = std::move(error);
  }
  void fail(const Setting& setting, const std::string& expected) {
    fail(bad_config(setting.where + " " + (setting.text.empty() ? "''" : setting.text) + ": " +
                    expected));
  }

  void read_identity(Config& config) {
    const Setting* data_dir = find("data-dir");
    if (data_dir == nullptr || data_dir->text.empty()) {
      fail(bad_config("--data-dir is required"));
    } else {
      config.data_dir = data_dir->text;
    }
    read_label("name", 1, config.name);
    read_label("rack", 0, config.rack);
    read_number("weight", 1, 1'000'000, config.weight);
  }

  // Names stand in lists and tables that people and scripts read.
  void read_label(const char* name, size_t bytes_min, std::string& out) {
    const Setting* s = find(name);
    if (s == nullptr) return;
    const bool plain = std::all_of(s->text.begin(), s->text.end(), [](char c) {
      return static_cast<unsigned char>(c) > ' ' && c != ',' && c != '=' && c != 0x7f;
    });
    if (!plain || s->text.size() < bytes_min || s->text.size() > kNameBytesMax) {
      fail(*s, "expected " + std::to_string(bytes_min) + ".." + std::to_string(kNameBytesMax) +
                   " bytes without spaces, commas and '='");
    }
    out = s->text;
  }

  void read_number(const char* name, uint32_t min, uint32_t max, uint32_t& out) {
    const Setting* s = find(name);
    if (s == nullptr) return;
    const char* end = s->text.data() + s->text.size();
    uint32_t number = 0;
    const auto [stop, error] = std::from_chars(s->text.data(), end, number);
    if (error != std::errc() || stop != end || number < min || number > max) {
      fail(*s, "expected a number " + std::to_string(min) + ".." + std::to_string(max));
      return;
    }
    out = number;
  }

  void read_addresses(Config& config) {
    config.client = read_listener("client", kDefaultClientPort);
    config.peer = read_listener("peer", kDefaultPeerPort);
    config.http = read_listener("http", kDefaultHttpPort);
    config.advertise_client = read_advertised("advertise-client", "client", config.client);
    config.advertise_peer = read_advertised("advertise-peer", "peer", config.peer);

    config.bootstrap = is_on("bootstrap");
    if (const Setting* s = find("join")) {
      size_t begin = 0;
      while (begin <= s->text.size()) {
        const size_t end = std::min(s->text.find(',', begin), s->text.size());
        config.join.push_back(resolve({s->text.substr(begin, end - begin), s->where}));
        begin = end + 1;
      }
      if (config.bootstrap)
        fail(*s, "a daemon founds a cluster (bootstrap) or joins one, not both");
    }
    if (is_on("replace")) {
      fail(*find("replace"), "taking over a dead member's name is not supported yet");
    }
  }

  Address read_listener(const char* name, uint16_t default_port) {
    const Setting* s = find(name);
    if (s == nullptr) return *Address::parse("127.0.0.1:" + std::to_string(default_port));
    const Address address = resolve(*s);
    if (address && !address.is_loopback() && !is_on("insecure")) {
      fail(*s, "not a loopback address; there is no authentication yet, so this needs --insecure");
    }
    return address;
  }

  Address read_advertised(const char* name, const char* listener, const Address& bound) {
    const Setting* s = find(name);
    if (s == nullptr) {
      if (bound && bound.is_unspecified()) {
        fail(*find(listener), std::string("listens everywhere, so --") + name +
                                  " must say at which address it is reached");
      }
      return bound;
    }
    const Address address = resolve(*s);
    if (address && address.is_unspecified()) fail(*s, "expected an address others can reach");
    return address;
  }

  // The default address after an error.
  Address resolve(const Setting& setting) {
    const std::string& text = setting.text;
    if (const auto literal = Address::parse(text)) return *literal;
    const size_t colon = text.rfind(':');
    uint16_t port = 0;
    if (colon != text.npos && colon > 0 && text[0] != '[') {
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
      if (error != std::errc() || stop != end) port = 0;
    }
    if (port == 0) {
      fail(setting, "expected HOST:PORT with a port 1..65535");
      return {};
    }
    auto resolved = machine_.resolve(text.substr(0, colon), port);
    if (!resolved) {
      fail(setting, resolved.error());
      return {};
    }
    return *resolved;
  }

  void read_founding(Config& config) {
    read_number("replication", 1, 16, config.replication);
    read_number("partitions", 1, 65'536, config.partitions);
    if (!std::has_single_bit(config.partitions)) {
      fail(*find("partitions"), "expected a power of two");
    }
    if (const Setting* s = find("policy")) {
      // The other policies are there to be compared with.
      constexpr std::array kPolicies = {"balanced", "rendezvous", "token-ring"};
      if (std::find(kPolicies.begin(), kPolicies.end(), s->text) == kPolicies.end()) {
        fail(*s, "expected balanced, rendezvous or token-ring");
      }
      config.policy = s->text;
    }
  }

  const Settings& settings_;
  const Machine& machine_;
  std::optional<ConfigError> error_;
};

std::expected<Address, std::string> resolve_host(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return std::unexpected("cannot resolve '" + host + "': " + gai_strerror(error));
  }
  std::string bytes;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    if (at->ai_family == AF_INET) {
      bytes.assign(reinterpret_cast<const char*>(
                       &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr),
                   4);
      break;
    }
    if (at->ai_family == AF_INET6 && bytes.empty()) {
      bytes.assign(reinterpret_cast<const char*>(
                       &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr),
                   16);
    }
  }
  freeaddrinfo(found);
  if (bytes.empty()) return std::unexpected("'" + host + "' has no IP address");
  bytes.push_back(static_cast<char>(port >> 8));
  bytes.push_back(static_cast<char>(port & 0xff));
  return Address::from_bytes(bytes);
}

}  // namespace

Machine this_machine() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "torc");
  return {host.data(), resolve_host};
}

std::expected<Config, ConfigError> parse(int argc, const char* const* argv,
                                         const Machine& machine) {
  auto settings = read_settings(argc, argv);
  if (!settings) return std::unexpected(settings.error());
  return Checker(*settings, machine).check();
}

}  // namespace torc
