// torc's own commands.
#include <optional>
#include <string>
#include <utility>

#include "daemon/resp/handlers.h"
#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

constexpr int64_t kLevelCountMax = 255;

// Without a result the plan holds the error.
std::optional<node::Level> parse_level(std::string_view text, Plan& plan) {
  if (equals_word(text, "ONE")) return node::Level{.kind = node::Level::kOne};
  if (equals_word(text, "QUORUM")) return node::Level{.kind = node::Level::kQuorum};
  if (equals_word(text, "ALL")) return node::Level{.kind = node::Level::kAll};
  if (equals_word(text, "LINEAR") || equals_word(text, "SLOPPY")) {
    answer_error(
        "ERR the level '" + escaped(text, 16) + "' is not available in this version of torc", plan);
    return std::nullopt;
  }
  const std::optional<int64_t> count = parse_integer(text);
  if (!count || *count < 1 || *count > kLevelCountMax) {
    answer_error("ERR a level is one, quorum, all or a number of replicas", plan);
    return std::nullopt;
  }
  return node::Level{.kind = node::Level::kCount, .count = static_cast<uint8_t>(*count)};
}

std::string name_of(node::Level level) {
  switch (level.kind) {
    case node::Level::kOne:
      return "one";
    case node::Level::kQuorum:
      return "quorum";
    case node::Level::kAll:
      return "all";
    case node::Level::kCount:
      break;
  }
  return std::to_string(level.count);
}

// [LEVEL l] from argument number `from` to the end; `otherwise` if it is not there.
std::optional<node::Level> level_option(const Arguments& arguments, size_t from,
                                        node::Level otherwise, Plan& plan) {
  if (arguments.size() == from) return otherwise;
  if (arguments.size() != from + 2 || !equals_word(arguments[from], "LEVEL")) {
    answer_error("ERR syntax error: only LEVEL and a level may follow", plan);
    return std::nullopt;
  }
  return parse_level(arguments[from + 1], plan);
}

}  // namespace

namespace handlers {

void consistency(const Arguments& arguments, Connection& connection, Plan& plan) {
  ReplyWriter writer(plan.answer, connection.protocol);
  if (arguments.size() == 1) {
    writer.map(2);
    writer.bulk("read");
    writer.bulk(name_of(connection.read_level));
    writer.bulk("write");
    return writer.bulk(name_of(connection.write_level));
  }
  node::Level read_level = connection.read_level;
  node::Level write_level = connection.write_level;
  for (size_t i = 1; i < arguments.size(); i += 2) {
    const bool read = equals_word(arguments[i], "READ");
    if ((!read && !equals_word(arguments[i], "WRITE")) || i + 1 == arguments.size()) {
      return answer_error("ERR syntax error: TORC.CONSISTENCY [READ level] [WRITE level]", plan);
    }
    const std::optional<node::Level> level = parse_level(arguments[i + 1], plan);
    if (!level) return;
    (read ? read_level : write_level) = *level;
  }
  connection.read_level = read_level;
  connection.write_level = write_level;
  answer_ok(connection, plan);
}

void owners(const Arguments& arguments, Connection&, Plan& plan) {
  if (!check_key(arguments[1], plan)) return;
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = Rendering::kOwners;
  plan.request = node::OwnersRequest{std::string(arguments[1])};
}

void status(const Arguments&, Connection&, Plan& plan) {
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = Rendering::kDocument;
  plan.request = node::StatusRequest{};
}

void get_at(const Arguments& arguments, Connection& connection, Plan& plan) {
  const auto level = level_option(arguments, 2, connection.read_level, plan);
  if (level) plan_get(arguments[1], *level, Rendering::kValue, plan);
}

void set_at(const Arguments& arguments, Connection& connection, Plan& plan) {
  const auto level = level_option(arguments, 3, connection.write_level, plan);
  if (!level || !check_key(arguments[1], plan) || !check_value(arguments[2], plan)) return;
  node::PutRequest put;
  put.key = arguments[1];
  put.value = arguments[2];
  put.level = *level;
  plan_put(std::move(put), Rendering::kOk, plan);
}

void del_at(const Arguments& arguments, Connection& connection, Plan& plan) {
  const auto level = level_option(arguments, 2, connection.write_level, plan);
  if (!level || !check_key(arguments[1], plan)) return;
  node::PutRequest put;
  put.key = arguments[1];
  put.tombstone = true;
  put.level = *level;
  plan_put(std::move(put), Rendering::kExisted, plan);
}

}  // namespace handlers
}  // namespace torc::resp
