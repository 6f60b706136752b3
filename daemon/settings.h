// Settings: every value torcd was given, as it was written, from its flags and its TOML file, each
// with the place it came from. Only names that exist are in it, and a flag has won over the file;
// the values are not checked yet. Used by config.cc alone.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <string>

#include "daemon/config.h"

namespace torc {

struct Setting {
  std::string text;   // of a switch: "true" or "false"
  std::string where;  // "--name", or "FILE: name"
};
using Settings = std::map<std::string, Setting, std::less<>>;

std::expected<Settings, ConfigError> read_settings(int argc, const char* const* argv);

// The error for bad flags or a bad file, on one line.
ConfigError bad_config(const std::string& what);

}  // namespace torc
