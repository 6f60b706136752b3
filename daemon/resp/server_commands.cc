// The commands about the daemon: what it can do, how it is set, how full it is.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "daemon/resp/commands.h"
#include "daemon/resp/handlers.h"
#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

constexpr size_t kPatternsMax = 64;

// Settings that clients of Redis look at, with what they amount to in torc.
struct Setting {
  std::string_view name;
  std::string_view value;
};
constexpr auto kSettings = std::to_array<Setting>({
    {"appendfsync", "always"},
    {"appendonly", "yes"},
    {"cluster-enabled", "no"},
    {"databases", "1"},
    {"maxmemory", "0"},
    {"maxmemory-policy", "noeviction"},
    {"proto-max-bulk-len", "16777216"},
    {"save", ""},
    {"timeout", "0"},
});

void write_lower(std::string_view upper, ReplyWriter& writer) {
  std::string lower(upper);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  writer.bulk(lower);
}

void write_command(const Command& command, ReplyWriter& writer) {
  writer.array(6);
  write_lower(command.name, writer);
  writer.integer(command.arity);
  writer.array(static_cast<size_t>(1 + std::ranges::count(command.flags, ' ')));
  std::string_view rest = command.flags;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    writer.simple(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  writer.integer(command.first_key);
  writer.integer(command.last_key);
  writer.integer(command.key_step);
}

// What redis-cli completes and explains names from.
void write_docs(const Command& command, ReplyWriter& writer) {
  write_lower(command.name, writer);
  writer.map(2);
  writer.bulk("summary");
  writer.bulk(command.summary);
  writer.bulk("group");
  writer.bulk(command.name.starts_with("TORC.") ? "torc" : "generic");
}

void answer_docs(const Arguments& arguments, ReplyWriter& writer) {
  std::vector<const Command*> wanted;
  for (const Command& each : commands()) {
    bool named = arguments.size() == 2;
    for (size_t i = 2; i < arguments.size() && !named; ++i) {
      named = equals_word(arguments[i], each.name);
    }
    if (named) wanted.push_back(&each);
  }
  writer.map(wanted.size());
  for (const Command* command : wanted) write_docs(*command, writer);
}

void write_commands(ReplyWriter& writer) {
  writer.array(commands().size());
  for (const Command& command : commands()) write_command(command, writer);
}

}  // namespace

namespace handlers {

void command(const Arguments& arguments, Connection& connection, Plan& plan) {
  ReplyWriter writer(plan.answer, connection.protocol);
  if (arguments.size() == 1) return write_commands(writer);
  const std::string_view what = arguments[1];
  if (equals_word(what, "COUNT")) return writer.integer(static_cast<int64_t>(commands().size()));
  if (equals_word(what, "DOCS")) return answer_docs(arguments, writer);
  if (equals_word(what, "LIST") && arguments.size() == 2) {
    writer.array(commands().size());
    for (const Command& each : commands()) write_lower(each.name, writer);
    return;
  }
  if (!equals_word(what, "INFO")) {
    return answer_error("ERR unknown subcommand '" + escaped(what, 64) +
                            "': torc knows COMMAND COUNT DOCS INFO LIST",
                        plan);
  }
  if (arguments.size() == 2) return write_commands(writer);
  if (arguments.size() - 2 > commands().size()) {
    return answer_error("ERR COMMAND INFO was asked about more commands than there are", plan);
  }
  writer.array(arguments.size() - 2);
  for (size_t i = 2; i < arguments.size(); ++i) {
    if (const Command* found = find_command(arguments[i])) {
      write_command(*found, writer);
    } else {
      writer.null_array();
    }
  }
}

void config(const Arguments& arguments, Connection& connection, Plan& plan) {
  if (!equals_word(arguments[1], "GET")) {
    return answer_error(
        "ERR torc has CONFIG GET only: it is set by the flags and the configuration file of torcd",
        plan);
  }
  if (arguments.size() < 3 || arguments.size() - 2 > kPatternsMax) {
    return answer_error("ERR CONFIG GET takes 1 to 64 patterns", plan);
  }
  std::array<bool, kSettings.size()> wanted{};
  for (size_t i = 2; i < arguments.size(); ++i) {
    for (size_t s = 0; s < kSettings.size(); ++s) {
      wanted[s] = wanted[s] || matches_pattern(arguments[i], kSettings[s].name);
    }
  }
  ReplyWriter writer(plan.answer, connection.protocol);
  writer.map(static_cast<size_t>(std::ranges::count(wanted, true)));
  for (size_t s = 0; s < kSettings.size(); ++s) {
    if (!wanted[s]) continue;
    writer.bulk(kSettings[s].name);
    writer.bulk(kSettings[s].value);
  }
}

void dbsize(const Arguments&, Connection&, Plan& plan) {
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = Rendering::kNumber;
  plan.request = node::SizeRequest{};
}

void info(const Arguments&, Connection&, Plan& plan) {
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = Rendering::kVerbatim;
  plan.request = node::InfoRequest{};
}

}  // namespace handlers
}  // namespace torc::resp
