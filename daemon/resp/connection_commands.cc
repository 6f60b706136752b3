// The commands about the connection itself.
#include <algorithm>
#include <optional>
#include <string>

#include "daemon/resp/handlers.h"
#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

constexpr size_t kNameBytesMax = 256;
constexpr std::string_view kNoPassword =
    "ERR Client sent AUTH, but no password is set: torc has no users yet";

// The words that CLIENT LIST can show without ambiguity.
bool is_name(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= '!' && c <= '~'; });
}

// Without an answer the name is fine.
std::optional<std::string_view> objection_to_name(std::string_view name) {
  if (name.size() > kNameBytesMax) return "ERR Client names may have at most 256 bytes";
  if (!is_name(name)) {
    return "ERR Client names cannot contain spaces, newlines or special characters.";
  }
  return std::nullopt;
}

std::string description(const Connection& connection) {
  return "id=" + std::to_string(connection.info.id) + " addr=" + connection.info.remote +
         " laddr=" + connection.info.local + " name=" + connection.name +
         " db=0 resp=" + std::to_string(static_cast<int>(connection.protocol)) +
         " lib-name=" + connection.library + " lib-ver=" + connection.library_version + "\n";
}

void client_setinfo(const Arguments& arguments, Connection& connection, Plan& plan) {
  const bool name = equals_word(arguments[2], "LIB-NAME");
  if (!name && !equals_word(arguments[2], "LIB-VER")) {
    return answer_error("ERR Unrecognized option '" + escaped(arguments[2], 64) + "'", plan);
  }
  if (arguments[3].size() > kNameBytesMax || !is_name(arguments[3])) {
    return answer_error(
        "ERR lib-name and lib-ver cannot contain spaces, newlines or special characters, "
        "nor be longer than 256 bytes",
        plan);
  }
  (name ? connection.library : connection.library_version) = arguments[3];
  answer_ok(connection, plan);
}

}  // namespace

namespace handlers {

void ping(const Arguments& arguments, Connection& connection, Plan& plan) {
  ReplyWriter writer(plan.answer, connection.protocol);
  if (arguments.size() > 2) {
    return writer.error("ERR wrong number of arguments for 'ping' command");
  }
  if (arguments.size() == 2) return writer.bulk(arguments[1]);
  writer.simple("PONG");
}

void echo(const Arguments& arguments, Connection& connection, Plan& plan) {
  ReplyWriter(plan.answer, connection.protocol).bulk(arguments[1]);
}

void quit(const Arguments&, Connection& connection, Plan& plan) {
  plan.kind = Plan::Kind::kAnswerAndClose;
  answer_ok(connection, plan);
}

void reset(const Arguments&, Connection& connection, Plan& plan) {
  connection = Connection{.info = std::move(connection.info),
                          .protocol = Protocol::kResp2,
                          .name = {},
                          .library = {},
                          .library_version = {},
                          .read_level = {},
                          .write_level = {}};
  ReplyWriter(plan.answer, connection.protocol).simple("RESET");
}

void select(const Arguments& arguments, Connection& connection, Plan& plan) {
  const std::optional<int64_t> index = parse_integer(arguments[1]);
  if (!index) return answer_error("ERR invalid DB index", plan);
  if (*index != 0) return answer_error("ERR DB index is out of range", plan);
  answer_ok(connection, plan);
}

void auth(const Arguments&, Connection&, Plan& plan) {
  answer_error(kNoPassword, plan);
}

// HELLO [version [AUTH user password] [SETNAME name]]: all of it holds, or nothing.
void hello(const Arguments& arguments, Connection& connection, Plan& plan) {
  Protocol protocol = connection.protocol;
  std::optional<std::string_view> name;
  if (arguments.size() > 1) {
    const std::optional<int64_t> version = parse_integer(arguments[1]);
    if (!version) {
      return answer_error("ERR Protocol version is not an integer or out of range", plan);
    }
    if (*version != 2 && *version != 3) {
      return answer_error("NOPROTO unsupported protocol version", plan);
    }
    protocol = *version == 3 ? Protocol::kResp3 : Protocol::kResp2;
  }
  for (size_t i = 2; i < arguments.size(); ++i) {
    if (equals_word(arguments[i], "AUTH") && i + 2 < arguments.size()) {
      return answer_error(kNoPassword, plan);
    }
    if (!equals_word(arguments[i], "SETNAME") || i + 1 == arguments.size()) {
      return answer_error("ERR Syntax error in HELLO option '" + escaped(arguments[i], 64) + "'",
                          plan);
    }
    name = arguments[++i];
    if (const auto objection = objection_to_name(*name)) return answer_error(*objection, plan);
  }
  connection.protocol = protocol;
  if (name) connection.name = *name;

  ReplyWriter writer(plan.answer, protocol);
  writer.map(7);
  writer.bulk("server");
  writer.bulk("torc");
  writer.bulk("version");
  writer.bulk(connection.info.version);
  writer.bulk("proto");
  writer.integer(static_cast<int>(protocol));
  writer.bulk("id");
  writer.integer(connection.info.id);
  writer.bulk("mode");
  writer.bulk("standalone");
  writer.bulk("role");
  writer.bulk("master");
  writer.bulk("modules");
  writer.array(0);
}

void client(const Arguments& arguments, Connection& connection, Plan& plan) {
  const std::string_view what = arguments[1];
  const size_t size = arguments.size();
  ReplyWriter writer(plan.answer, connection.protocol);
  if (equals_word(what, "SETNAME") && size == 3) {
    if (const auto objection = objection_to_name(arguments[2])) {
      return answer_error(*objection, plan);
    }
    connection.name = arguments[2];
    return answer_ok(connection, plan);
  }
  if (equals_word(what, "GETNAME") && size == 2) {
    return connection.name.empty() ? writer.null() : writer.bulk(connection.name);
  }
  if (equals_word(what, "ID") && size == 2) return writer.integer(connection.info.id);
  if (equals_word(what, "SETINFO") && size == 4) return client_setinfo(arguments, connection, plan);
  // Each connection sees itself only: the others belong to other sessions.
  if (equals_word(what, "LIST") || (equals_word(what, "INFO") && size == 2)) {
    return writer.verbatim(description(connection));
  }
  // Nothing is evicted and nothing is touched: both are kept by doing nothing.
  if ((equals_word(what, "NO-EVICT") || equals_word(what, "NO-TOUCH")) && size == 3) {
    if (equals_word(arguments[2], "ON") || equals_word(arguments[2], "OFF")) {
      return answer_ok(connection, plan);
    }
    return answer_error("ERR syntax error", plan);
  }
  answer_error("ERR unknown subcommand or wrong number of arguments for '" + escaped(what, 64) +
                   "': torc knows CLIENT SETNAME GETNAME ID SETINFO LIST INFO NO-EVICT NO-TOUCH",
               plan);
}

}  // namespace handlers
}  // namespace torc::resp
