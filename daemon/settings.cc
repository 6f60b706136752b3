#include "daemon/settings.h"

#include <toml++/toml.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace torc {
namespace {

enum class Kind { kText, kNumber, kSwitch, kList };

struct Option {
  const char* name;
  Kind kind;
  const char* help;
};

// Every one is a flag and a key of the file.
constexpr std::array kOptions = {
    Option{"data-dir", Kind::kText, "where the data lives"},
    Option{"bootstrap", Kind::kSwitch,
           "found a new cluster of one, when the data directory is empty"},
    Option{"join", Kind::kList, "HOST:PORT,... of daemons to join through, when it is empty"},
    Option{"replace", Kind::kSwitch, "take over the name of a dead member"},
    Option{"name", Kind::kText, "placement identity [host name and peer port]"},
    Option{"client", Kind::kText, "HOST:PORT for clients [127.0.0.1:7001]"},
    Option{"peer", Kind::kText, "HOST:PORT for other daemons [127.0.0.1:7101]"},
    Option{"http", Kind::kText, "HOST:PORT for status and metrics [127.0.0.1:7201]"},
    Option{"advertise-client", Kind::kText, "HOST:PORT at which clients reach it [--client]"},
    Option{"advertise-peer", Kind::kText, "HOST:PORT at which daemons reach it [--peer]"},
    Option{"weight", Kind::kNumber, "share of the data, 1..1000000 [1]"},
    Option{"rack", Kind::kText, "rack name; replicas avoid sharing one"},
    Option{"replication", Kind::kNumber, "copies of each key, 1..16, for --bootstrap [3]"},
    Option{"partitions", Kind::kNumber, "a power of two, 1..65536, for --bootstrap [4096]"},
    Option{"policy", Kind::kText,
           "claim policy, for --bootstrap: balanced, rendezvous or token-ring [balanced]"},
    Option{"durability", Kind::kText,
           "sync (each write is on disk before its answer) or interval [sync]"},
    Option{"log-level", Kind::kText, "debug, info, warning or error [info]"},
    Option{"insecure", Kind::kSwitch, "allow listeners beyond loopback: the network is trusted"},
};

// The value of one key of the file in the words of the command line; nullopt when it is of another
// kind.
std::optional<std::string> text_of(const toml::node& node, Kind kind) {
  switch (kind) {
    case Kind::kText:
      return node.value_exact<std::string>();
    case Kind::kNumber:
      if (const auto number = node.value_exact<int64_t>()) return std::to_string(*number);
      return std::nullopt;
    case Kind::kSwitch:
      if (const auto on = node.value_exact<bool>()) return *on ? "true" : "false";
      return std::nullopt;
    case Kind::kList: {
      const toml::array* array = node.as_array();
      if (array == nullptr) return node.value_exact<std::string>();
      std::string all;
      for (const toml::node& item : *array) {
        const auto text = item.value_exact<std::string>();
        if (!text) return std::nullopt;
        all += (all.empty() ? "" : ",") + *text;
      }
      return all;
    }
  }
  return std::nullopt;
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kText:
      return "a string";
    case Kind::kNumber:
      return "an integer";
    case Kind::kSwitch:
      return "true or false";
    case Kind::kList:
      return "a string or a list of strings";
  }
  return "";
}

// Adds the file's settings where no flag was given.
std::expected<void, ConfigError> read_file(const std::string& path, Settings& settings) {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    return std::unexpected(bad_config("--config " + path + ": line " +
                                      std::to_string(error.source().begin.line) + ": " +
                                      std::string(error.description())));
  }
  for (const auto& [key, node] : table) {
    const auto* option = std::find_if(kOptions.begin(), kOptions.end(),
                                      [&](const Option& o) { return key.str() == o.name; });
    const std::string where = path + ": " + std::string(key.str());
    if (option == kOptions.end()) return std::unexpected(bad_config(where + ": unknown key"));
    auto text = text_of(node, option->kind);
    if (!text) return std::unexpected(bad_config(where + ": expected " + kind_name(option->kind)));
    settings.try_emplace(option->name, Setting{std::move(*text), where});
  }
  return {};
}

}  // namespace

ConfigError bad_config(const std::string& what) {
  std::string line = "torcd: " + what;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {2, std::move(line)};
}

std::expected<Settings, ConfigError> read_settings(int argc, const char* const* argv) {
  CLI::App app{"torcd: one daemon of a torc cluster", "torcd"};
  std::array<std::string, kOptions.size()> texts;
  std::array<bool, kOptions.size()> switches{};
  std::array<CLI::Option*, kOptions.size()> options{};
  std::string file;
  for (size_t i = 0; i < kOptions.size(); ++i) {
    const std::string flag = std::string("--") + kOptions[i].name;
    options[i] = kOptions[i].kind == Kind::kSwitch
                     ? app.add_flag(flag, switches[i], kOptions[i].help)
                     : app.add_option(flag, texts[i], kOptions[i].help);
  }
  const CLI::Option* file_option =
      app.add_option("--config", file, "TOML file with the same names; flags win");
  app.set_version_flag("--version", "torcd " TORC_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return std::unexpected(ConfigError{0, app.help()});
  } catch (const CLI::CallForVersion&) {
    return std::unexpected(ConfigError{0, "torcd " TORC_VERSION "\n"});
  } catch (const CLI::ParseError& error) {
    return std::unexpected(bad_config(error.what()));
  }

  Settings settings;
  for (size_t i = 0; i < kOptions.size(); ++i) {
    if (options[i]->count() == 0) continue;
    std::string text = kOptions[i].kind != Kind::kSwitch ? texts[i]
                       : switches[i]                     ? "true"
                                                         : "false";
    settings[kOptions[i].name] = {std::move(text), std::string("--") + kOptions[i].name};
  }
  if (file_option->count() > 0) {
    if (auto read = read_file(file, settings); !read) return std::unexpected(read.error());
  }
  return settings;
}

}  // namespace torc
