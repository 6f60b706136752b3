// Config: what one torcd is told by its command line and its TOML file, checked and with every host
// name resolved. A Config that parse() returned can be acted on without further checks, and a flag
// has won over the file. Called once, at start.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "membership/address.h"

namespace torc {

struct Config {
  std::string data_dir;
  bool bootstrap = false;
  std::vector<Address> join;

  std::string name;
  Address client;
  Address peer;
  Address http;
  Address advertise_client;
  Address advertise_peer;
  uint32_t weight = 1;
  std::string rack;

  uint32_t replication = 3;
  uint32_t partitions = 4096;
  std::string policy = "balanced";

  bool durability_sync = true;
  std::string log_level = "info";
};

// Why there is no Config: one line for stderr, or, when the exit code is 0, the text that was asked
// for.
struct ConfigError {
  int exit_code = 2;
  std::string text;
};

// What parse() wants to know of the machine.
struct Machine {
  std::string host_name;
  // The address of a host name; an error in words.
  std::function<std::expected<Address, std::string>(const std::string& host, uint16_t port)>
      resolve;
};
// The real one: gethostname and getaddrinfo (IPv4 first).
Machine this_machine();

std::expected<Config, ConfigError> parse(int argc, const char* const* argv, const Machine& machine);

}  // namespace torc
