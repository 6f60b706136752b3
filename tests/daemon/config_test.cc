#include "daemon/config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace torc {
namespace {

Machine test_machine() {
  return {"box", [](const std::string& host, uint16_t port) -> std::expected<Address, std::string> {
            if (host == "localhost") return *Address::parse("127.0.0.1:" + std::to_string(port));
            if (host == "far") return *Address::parse("10.0.0.7:" + std::to_string(port));
            return std::unexpected("cannot resolve '" + host + "'");
          }};
}

std::expected<Config, ConfigError> parse_flags(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "torcd");
  return parse(static_cast<int>(flags.size()), flags.data(), test_machine());
}

// A TOML file that goes when the test ends.
class TomlFile {
 public:
  explicit TomlFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() /
               ("torc_config_test_" + std::to_string(getpid()) + ".toml"))
                  .string()) {
    std::ofstream(path_) << text;
  }
  ~TomlFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

Address at(const char* text) {
  return Address::parse(text).value();
}

}  // namespace

TEST_CASE("config: a data directory is all a daemon needs to be told") {
  const auto config = parse_flags({"--data-dir", "d"});
  REQUIRE(config);
  CHECK(config->data_dir == "d");
  CHECK(config->client == at("127.0.0.1:7001"));
  CHECK(config->peer == at("127.0.0.1:7101"));
  CHECK(config->http == at("127.0.0.1:7201"));
  CHECK(config->advertise_client == config->client);
  CHECK(config->advertise_peer == config->peer);
  CHECK(config->name == "box-7101");
  CHECK(config->replication == 3);
  CHECK(config->partitions == 4096);
  CHECK(config->weight == 1);
  CHECK(config->durability_sync);
  CHECK_FALSE(config->bootstrap);
  CHECK(config->join.empty());
}

TEST_CASE("config: every flag reaches its field, and host names are resolved") {
  const auto config = parse_flags({"--data-dir=d",
                                   "--join",
                                   "localhost:7101,far:7102,[::1]:7103",
                                   "--name",
                                   "n1",
                                   "--client",
                                   "0.0.0.0:1",
                                   "--peer",
                                   "far:2",
                                   "--http",
                                   "localhost:3",
                                   "--advertise-client",
                                   "far:4",
                                   "--advertise-peer",
                                   "far:5",
                                   "--weight",
                                   "7",
                                   "--rack",
                                   "r1",
                                   "--replication",
                                   "16",
                                   "--partitions",
                                   "65536",
                                   "--policy",
                                   "token-ring",
                                   "--durability",
                                   "interval",
                                   "--log-level",
                                   "debug",
                                   "--insecure"});
  REQUIRE(config);
  CHECK(config->join ==
        std::vector<Address>{at("127.0.0.1:7101"), at("10.0.0.7:7102"), at("[::1]:7103")});
  CHECK(config->name == "n1");
  CHECK(config->client == at("0.0.0.0:1"));
  CHECK(config->peer == at("10.0.0.7:2"));
  CHECK(config->http == at("127.0.0.1:3"));
  CHECK(config->advertise_client == at("10.0.0.7:4"));
  CHECK(config->advertise_peer == at("10.0.0.7:5"));
  CHECK(config->weight == 7);
  CHECK(config->rack == "r1");
  CHECK(config->replication == 16);
  CHECK(config->partitions == 65536);
  CHECK_FALSE(config->durability_sync);
  CHECK(config->log_level == "debug");
}

TEST_CASE("config: a bad value is told with its flag, in one line, and exits with 2") {
  struct Row {
    std::vector<const char*> flags;
    const char* words;  // that the line must hold
  };
  const std::vector<Row> rows = {
      {{"--bootstrap"}, "--data-dir is required"},
      {{"--data-dir", ""}, "--data-dir is required"},
      {{"--data-dir", "d", "--nonsense"}, "--nonsense"},
      {{"--data-dir", "d", "stray"}, "stray"},
      {{"--data-dir"}, "--data-dir"},
      {{"--data-dir", "d", "--weight", "0"}, "--weight 0: expected a number 1..1000000"},
      {{"--data-dir", "d", "--weight", "-1"}, "--weight"},
      {{"--data-dir", "d", "--weight", "1000001"}, "--weight 1000001"},
      {{"--data-dir", "d", "--weight", "1x"}, "--weight 1x"},
      {{"--data-dir", "d", "--weight", "99999999999999"}, "--weight 99999999999999"},
      {{"--data-dir", "d", "--replication", "17"}, "--replication 17: expected a number 1..16"},
      {{"--data-dir", "d", "--partitions", "3000"}, "--partitions 3000: expected a power of two"},
      {{"--data-dir", "d", "--partitions", "131072"}, "--partitions 131072"},
      {{"--data-dir", "d", "--policy", "roulette"},
       "--policy roulette: expected balanced, rendezvous or token-ring"},
      {{"--data-dir", "d", "--policy", "modulo"}, "--policy modulo: expected balanced, rendezvous"},
      {{"--data-dir", "d", "--durability", "never"},
       "--durability never: expected sync or interval"},
      {{"--data-dir", "d", "--log-level", "loud"}, "--log-level loud: expected debug, info"},
      {{"--data-dir", "d", "--name", "a b"}, "--name a b"},
      {{"--data-dir", "d", "--name", ""}, "--name ''"},
      {{"--data-dir", "d", "--client", "7001"}, "--client 7001: expected HOST:PORT"},
      {{"--data-dir", "d", "--client", ":7001"}, "--client :7001: expected HOST:PORT"},
      {{"--data-dir", "d", "--client", "localhost:0"}, "--client localhost:0: expected HOST:PORT"},
      {{"--data-dir", "d", "--client", "localhost:70000"}, "--client localhost:70000"},
      {{"--data-dir", "d", "--peer", "nowhere:1"}, "--peer nowhere:1: cannot resolve 'nowhere'"},
      {{"--data-dir", "d", "--join", "localhost:1,,"}, "--join ''"},
      {{"--data-dir", "d", "--join", ""}, "--join ''"},
      {{"--data-dir", "d", "--join", "localhost:1", "--bootstrap"}, "not both"},
      {{"--data-dir", "d", "--join", "localhost:1", "--replace"}, "--replace"},
      {{"--data-dir", "d", "--config", "/no/such/file.toml"}, "/no/such/file.toml"},
  };
  for (const Row& row : rows) {
    const auto config = parse_flags(row.flags);
    CAPTURE(row.words);
    REQUIRE_FALSE(config);
    CHECK(config.error().exit_code == 2);
    CHECK(config.error().text.find(row.words) != std::string::npos);
    CHECK(config.error().text.find('\n') == std::string::npos);
    CHECK(config.error().text.starts_with("torcd: "));
  }
}

TEST_CASE(
    "config: a listener beyond loopback needs --insecure, and one on every address says where it "
    "is") {
  for (const char* listener : {"--client", "--peer", "--http"}) {
    CAPTURE(listener);
    const auto refused = parse_flags({"--data-dir", "d", listener, "10.0.0.1:9"});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().exit_code == 2);
    CHECK(refused.error().text.find(std::string(listener) + " 10.0.0.1:9") != std::string::npos);
    CHECK(refused.error().text.find("--insecure") != std::string::npos);
    CHECK(parse_flags({"--data-dir", "d", listener, "10.0.0.1:9", "--insecure"}));
  }
  const auto everywhere = parse_flags({"--data-dir", "d", "--peer", "0.0.0.0:9", "--insecure"});
  REQUIRE_FALSE(everywhere);
  CHECK(everywhere.error().text.find("--advertise-peer") != std::string::npos);
  CHECK(parse_flags(
      {"--data-dir", "d", "--peer", "[::]:9", "--insecure", "--advertise-peer", "far:9"}));
  CHECK_FALSE(parse_flags({"--data-dir", "d", "--advertise-client", "0.0.0.0:9"}));
}

TEST_CASE("config: the file knows the same names, and a flag wins") {
  const TomlFile file(
      "data-dir = 'from-file'\nbootstrap = true\nweight = 5\nname = 'f'\nreplication = 2\n");
  const auto config = parse_flags({"--config", file.path(), "--name", "flag", "--bootstrap"});
  REQUIRE(config);
  CHECK(config->data_dir == "from-file");
  CHECK(config->bootstrap);
  CHECK(config->weight == 5);
  CHECK(config->name == "flag");
  CHECK(config->replication == 2);
}

TEST_CASE("config: the file may list the daemons to join as strings or as one string") {
  for (const char* text : {"join = ['localhost:1', 'far:2']", "join = 'localhost:1,far:2'"}) {
    const TomlFile file(std::string("data-dir = 'd'\n") + text);
    const auto config = parse_flags({"--config", file.path()});
    REQUIRE(config);
    CHECK(config->join == std::vector<Address>{at("127.0.0.1:1"), at("10.0.0.7:2")});
  }
}

TEST_CASE("config: a mistake in the file names the file and the key") {
  struct Row {
    const char* text;
    const char* words;
  };
  for (const Row& row : std::vector<Row>{{"colour = 'red'", "colour: unknown key"},
                                         {"config = 'x'", "config: unknown key"},
                                         {"weight = 'heavy'", "weight: expected an integer"},
                                         {"name = 5", "name: expected a string"},
                                         {"bootstrap = 'yes'", "bootstrap: expected true or false"},
                                         {"join = [1]", "join: expected a string or a list"},
                                         {"weight = 0", "weight 0: expected a number"},
                                         {"[client]\nport = 1", "client: expected a string"},
                                         {"weight = ", "line 1"}}) {
    const TomlFile file(row.text);
    const auto config = parse_flags({"--data-dir", "d", "--config", file.path()});
    CAPTURE(row.text);
    REQUIRE_FALSE(config);
    CHECK(config.error().exit_code == 2);
    CHECK(config.error().text.find(row.words) != std::string::npos);
    CHECK(config.error().text.find(file.path()) != std::string::npos);
    CHECK(config.error().text.find('\n') == std::string::npos);
  }
}

TEST_CASE("config: help and version are no errors") {
  for (const char* flag : {"--help", "--version"}) {
    const auto config = parse_flags({flag});
    REQUIRE_FALSE(config);
    CHECK(config.error().exit_code == 0);
    CHECK(config.error().text.find("torcd") != std::string::npos);
  }
}

}  // namespace torc
