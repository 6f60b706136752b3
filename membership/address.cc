#include "membership/address.h"

#include <arpa/inet.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>

namespace torc {
namespace {

constexpr std::array<uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

}  // namespace

bool Address::is_v4() const {
  return std::equal(kV4Prefix.begin(), kV4Prefix.end(), ip.begin());
}

bool Address::is_loopback() const {
  if (is_v4()) return ip[12] == 127;
  return ip == std::array<uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
}

bool Address::is_unspecified() const {
  const auto rest = ip.begin() + (is_v4() ? 12 : 0);
  return std::all_of(rest, ip.end(), [](uint8_t byte) { return byte == 0; });
}

std::string Address::to_string() const {
  char text[INET6_ADDRSTRLEN];
  if (is_v4()) {
    inet_ntop(AF_INET, ip.data() + kV4Prefix.size(), text, sizeof text);
    return std::string(text) + ":" + std::to_string(port);
  }
  inet_ntop(AF_INET6, ip.data(), text, sizeof text);
  return "[" + std::string(text) + "]:" + std::to_string(port);
}

std::optional<Address> Address::parse(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  std::string host(text.substr(0, colon));
  if (host.find('\0') != host.npos) return std::nullopt;  // inet_pton would stop there
  const std::string_view digits = text.substr(colon + 1);

  Address address;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (error != std::errc() || end != digits.data() + digits.size() || address.port == 0) {
    return std::nullopt;
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), address.ip.data()) != 1) return std::nullopt;
    return address;
  }
  std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.ip.begin());
  if (inet_pton(AF_INET, host.c_str(), address.ip.data() + kV4Prefix.size()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::string Address::to_bytes() const {
  if (!*this) return {};
  std::string bytes(ip.begin() + (is_v4() ? 12 : 0), ip.end());
  bytes.push_back(static_cast<char>(port >> 8));
  bytes.push_back(static_cast<char>(port & 0xff));
  return bytes;
}

Address Address::from_bytes(std::string_view bytes) {
  Address address;
  if (bytes.size() == 6) {
    std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.ip.begin());
  } else if (bytes.size() != 18) {
    return address;
  }
  const size_t ip_bytes = bytes.size() - 2;
  std::copy_n(bytes.begin(), ip_bytes, address.ip.end() - static_cast<ptrdiff_t>(ip_bytes));
  address.port = static_cast<uint16_t>(static_cast<uint8_t>(bytes[ip_bytes]) << 8 |
                                       static_cast<uint8_t>(bytes[ip_bytes + 1]));
  return address.port == 0 ? Address{} : address;
}

}  // namespace torc

size_t std::hash<torc::Address>::operator()(const torc::Address& address) const noexcept {
  return XXH3_64bits_withSeed(address.ip.data(), address.ip.size(), address.port);
}
