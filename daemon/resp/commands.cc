#include "daemon/resp/commands.h"

#include <algorithm>
#include <array>
#include <string>

#include "daemon/resp/handlers.h"
#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"AUTH", -2, "noscript loading stale fast no_auth", 0, 0, 0, handlers::auth,
     "Refused: torc has no users yet"},
    {"CLIENT", -2, "noscript loading stale", 0, 0, 0, handlers::client,
     "Names and describes this connection"},
    {"COMMAND", -1, "loading stale", 0, 0, 0, handlers::command, "Describes the commands"},
    {"CONFIG", -2, "admin noscript loading stale", 0, 0, 0, handlers::config,
     "Shows settings (GET only)"},
    {"DBSIZE", 1, "readonly fast", 0, 0, 0, handlers::dbsize,
     "Estimates the keys of the whole cluster"},
    {"DEL", -2, "write", 1, -1, 1, handlers::del, "Deletes keys"},
    {"ECHO", 2, "fast", 0, 0, 0, handlers::echo, "Answers what it is given"},
    {"EXISTS", -2, "readonly fast", 1, -1, 1, handlers::exists, "Counts which of the keys exist"},
    {"GET", 2, "readonly fast", 1, 1, 1, handlers::get, "Reads a value"},
    {"GETDEL", 2, "write fast", 1, 1, 1, handlers::getdel,
     "Reads a value, then deletes it (not atomic)"},
    {"HELLO", -1, "noscript loading stale fast no_auth", 0, 0, 0, handlers::hello,
     "Chooses the protocol version"},
    {"INFO", -1, "loading stale", 0, 0, 0, handlers::info, "Describes this daemon"},
    {"MGET", -2, "readonly fast", 1, -1, 1, handlers::mget, "Reads several values"},
    {"MSET", -3, "write denyoom", 1, -1, 2, handlers::mset, "Writes several values (not atomic)"},
    {"PING", -1, "fast", 0, 0, 0, handlers::ping, "Answers PONG"},
    {"PSETEX", 4, "write denyoom", 1, 1, 1, handlers::psetex,
     "Writes a value that expires after milliseconds"},
    {"QUIT", -1, "noscript loading stale fast no_auth", 0, 0, 0, handlers::quit,
     "Closes the connection"},
    {"RESET", 1, "noscript loading stale fast no_auth", 0, 0, 0, handlers::reset,
     "Forgets what was set on this connection"},
    {"SELECT", 2, "loading stale fast", 0, 0, 0, handlers::select, "Accepts database 0"},
    {"SET", -3, "write denyoom", 1, 1, 1, handlers::set, "Writes a value"},
    {"SETEX", 4, "write denyoom", 1, 1, 1, handlers::setex,
     "Writes a value that expires after seconds"},
    {"STRLEN", 2, "readonly fast", 1, 1, 1, handlers::strlen, "A value's length"},
    {"TORC.CONSISTENCY", -1, "fast", 0, 0, 0, handlers::consistency,
     "Shows or sets this connection's levels"},
    {"TORC.DEL", -2, "write", 1, 1, 1, handlers::del_at, "Deletes a key at a level"},
    {"TORC.GET", -2, "readonly fast", 1, 1, 1, handlers::get_at, "Reads a value at a level"},
    {"TORC.OWNERS", 2, "readonly fast", 1, 1, 1, handlers::owners, "The daemons that hold a key"},
    {"TORC.SET", -3, "write denyoom", 1, 1, 1, handlers::set_at, "Writes a value at a level"},
    {"TORC.STATUS", 1, "readonly", 0, 0, 0, handlers::status,
     "The cluster as this daemon sees it, as JSON"},
    {"TYPE", 2, "readonly fast", 1, 1, 1, handlers::type, "The kind of a value: string or none"},
    {"UNLINK", -2, "write fast", 1, -1, 1, handlers::del, "Deletes keys"},
});
static_assert(std::ranges::is_sorted(kCommands, {}, &Command::name));

constexpr std::string_view kReadModifyWrite =
    "needs an atomic read-modify-write, which torc does not promise";
constexpr std::string_view kNotYet = "is not available in this version of torc";
constexpr std::string_view kDangerous =
    "is refused: it would delete what the whole cluster stores, on one client's word";

// Commands that Redis has and torc answers with a reason.
struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr auto kRefusals = std::to_array<Refusal>({
    {"APPEND", kReadModifyWrite},
    {"BITFIELD", kReadModifyWrite},
    {"COPY", kReadModifyWrite},
    {"DECR", kReadModifyWrite},
    {"DECRBY", kReadModifyWrite},
    {"DISCARD", kReadModifyWrite},
    {"EVAL", kReadModifyWrite},
    {"EVALSHA", kReadModifyWrite},
    {"EVALSHA_RO", kReadModifyWrite},
    {"EVAL_RO", kReadModifyWrite},
    {"EXEC", kReadModifyWrite},
    {"EXPIRE", kNotYet},
    {"EXPIREAT", kNotYet},
    {"FCALL", kReadModifyWrite},
    {"FCALL_RO", kReadModifyWrite},
    {"FLUSHALL", kDangerous},
    {"FLUSHDB", kDangerous},
    {"FUNCTION", kReadModifyWrite},
    {"GETEX", kNotYet},
    {"GETSET", kReadModifyWrite},
    {"INCR", kReadModifyWrite},
    {"INCRBY", kReadModifyWrite},
    {"INCRBYFLOAT", kReadModifyWrite},
    {"MSETNX", kReadModifyWrite},
    {"MULTI", kReadModifyWrite},
    {"PERSIST", kNotYet},
    {"PEXPIRE", kNotYet},
    {"PEXPIREAT", kNotYet},
    {"PTTL", kNotYet},
    {"RENAME", kReadModifyWrite},
    {"RENAMENX", kReadModifyWrite},
    {"SCAN", kNotYet},
    {"SCRIPT", kReadModifyWrite},
    {"SETBIT", kReadModifyWrite},
    {"SETNX", kReadModifyWrite},
    {"SETRANGE", kReadModifyWrite},
    {"TIME", kNotYet},
    {"TORC.DELV", kNotYet},
    {"TORC.GETV", kNotYet},
    {"TORC.SETV", kNotYet},
    {"TTL", kNotYet},
    {"UNWATCH", kReadModifyWrite},
    {"WATCH", kReadModifyWrite},
});
static_assert(std::ranges::is_sorted(kRefusals, {}, &Refusal::name));

// The entry of a table sorted by name, in whatever case the name is asked for.
template <typename Table>
auto find_in(const Table& table, std::string_view name) -> decltype(table.data()) {
  std::array<char, 32> upper;
  if (name.size() > upper.size()) return nullptr;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    upper[i] = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const std::string_view wanted(upper.data(), name.size());
  const auto found = std::ranges::lower_bound(table, wanted, {}, &Table::value_type::name);
  return found != table.end() && found->name == wanted ? &*found : nullptr;
}

std::string lower_case(std::string_view upper) {
  std::string lower(upper);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

void answer_unknown(const Arguments& arguments, Plan& plan) {
  constexpr size_t kQuotedBytesMax = 128;
  std::string text = "ERR unknown command '" + escaped(arguments[0], kQuotedBytesMax) +
                     "', with args beginning with: ";
  size_t quoted = 0;
  for (size_t i = 1; i < arguments.size() && quoted < kQuotedBytesMax; ++i) {
    const std::string argument = escaped(arguments[i], kQuotedBytesMax - quoted);
    quoted += argument.size() + 3;
    text += "'" + argument + "' ";
  }
  answer_error(text, plan);
}

}  // namespace

std::span<const Command> commands() {
  return kCommands;
}

const Command* find_command(std::string_view name) {
  return find_in(kCommands, name);
}

void plan_command(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan.kind = Plan::Kind::kAnswer;
  plan.answer.clear();
  if (const Command* command = find_command(arguments[0])) {
    const auto given = static_cast<int64_t>(arguments.size());
    const bool enough = command->arity >= 0 ? given == command->arity : given >= -command->arity;
    if (enough) return command->handler(arguments, connection, plan);
    return answer_error(
        "ERR wrong number of arguments for '" + lower_case(command->name) + "' command", plan);
  }
  if (const Refusal* refusal = find_in(kRefusals, arguments[0])) {
    return answer_error("ERR '" + std::string(refusal->name) + "' " + std::string(refusal->reason),
                        plan);
  }
  answer_unknown(arguments, plan);
}

void answer_error(std::string_view text, Plan& plan) {
  plan.kind = Plan::Kind::kAnswer;
  plan.answer.clear();
  ReplyWriter(plan.answer, Protocol::kResp2).error(text);
}

void answer_ok(const Connection& connection, Plan& plan) {
  ReplyWriter(plan.answer, connection.protocol).simple("OK");
}

}  // namespace torc::resp
