// The commands on keys and their values.
#include <cassert>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "daemon/resp/commands.h"
#include "daemon/resp/handlers.h"
#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

// Times have 48 bits of milliseconds; half of them leaves room for now.
constexpr int64_t kExpiryMsMax = (int64_t{1} << 47) - 1;

// The options of SET.
struct SetOptions {
  std::optional<int64_t> expires_in_ms;
  std::optional<int64_t> expires_at_ms;
  bool keep_expiry = false;
  bool get = false;
};

void answer_syntax_error(Plan& plan) {
  answer_error("ERR syntax error", plan);
}

// A positive number of `unit_ms`, in milliseconds.
std::optional<int64_t> parse_expiry(std::string_view text, int64_t unit_ms,
                                    std::string_view command, Plan& plan) {
  const std::optional<int64_t> number = parse_integer(text);
  if (!number) {
    answer_error("ERR value is not an integer or out of range", plan);
    return std::nullopt;
  }
  if (*number <= 0 || *number > kExpiryMsMax / unit_ms) {
    answer_error("ERR invalid expire time in '" + std::string(command) + "' command", plan);
    return std::nullopt;
  }
  return *number * unit_ms;
}

// Without a result the plan holds the error.
std::optional<SetOptions> parse_set_options(const Arguments& arguments, Plan& plan) {
  SetOptions options;
  bool has_expiry = false;
  for (size_t i = 3; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (equals_word(option, "NX") || equals_word(option, "XX")) {
      answer_error("ERR 'SET " + std::string(equals_word(option, "NX") ? "NX" : "XX") +
                       "' needs an atomic read-modify-write, which torc does not promise",
                   plan);
      return std::nullopt;
    }
    if (equals_word(option, "GET")) {
      options.get = true;
      continue;
    }
    const bool relative = equals_word(option, "EX") || equals_word(option, "PX");
    const bool absolute = equals_word(option, "EXAT") || equals_word(option, "PXAT");
    const bool keep = equals_word(option, "KEEPTTL");
    const bool takes_number = relative || absolute;
    if ((!takes_number && !keep) || has_expiry || (takes_number && i + 1 == arguments.size())) {
      answer_syntax_error(plan);
      return std::nullopt;
    }
    has_expiry = true;
    options.keep_expiry = keep;
    if (keep) continue;
    const bool milliseconds = option.front() == 'P' || option.front() == 'p';
    const std::optional<int64_t> ms =
        parse_expiry(arguments[++i], milliseconds ? 1 : 1000, "set", plan);
    if (!ms) return std::nullopt;
    (relative ? options.expires_in_ms : options.expires_at_ms) = ms;
  }
  return options;
}

void plan_each_key(Rendering part, Rendering end, Plan::Part request, size_t stride, Plan& plan) {
  plan.kind = Plan::Kind::kEachKey;
  plan.rendering = part;
  plan.end = end;
  plan.part = request;
  plan.stride = stride;
}

bool check_keys(const Arguments& arguments, size_t stride, Plan& plan) {
  for (size_t i = 1; i < arguments.size(); i += stride) {
    if (!check_key(arguments[i], plan)) return false;
  }
  return true;
}

void plan_set_expiring(const Arguments& arguments, int64_t unit_ms, std::string_view name,
                       const Connection& connection, Plan& plan) {
  if (!check_key(arguments[1], plan) || !check_value(arguments[3], plan)) return;
  const std::optional<int64_t> ms = parse_expiry(arguments[2], unit_ms, name, plan);
  if (!ms) return;
  plan_put({.key = std::string(arguments[1]),
            .value = std::string(arguments[3]),
            .expires_in_ms = ms,
            .expires_at_ms = std::nullopt,
            .level = connection.write_level},
           Rendering::kOk, plan);
}

}  // namespace

bool check_key(std::string_view key, Plan& plan) {
  if (key.size() <= node::kKeyBytesMax) return true;
  answer_error("TOOBIG key of " + std::to_string(key.size()) + " bytes, at most " +
                   std::to_string(node::kKeyBytesMax),
               plan);
  return false;
}

bool check_value(std::string_view value, Plan& plan) {
  if (value.size() <= node::kValueBytesMax) return true;
  answer_error("TOOBIG value of " + std::to_string(value.size()) + " bytes, at most " +
                   std::to_string(node::kValueBytesMax),
               plan);
  return false;
}

void plan_get(std::string_view key, node::Level level, Rendering rendering, Plan& plan) {
  if (!check_key(key, plan)) return;
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = rendering;
  plan.request = node::GetRequest{std::string(key), level};
}

void plan_put(node::PutRequest put, Rendering rendering, Plan& plan) {
  plan.kind = Plan::Kind::kRequest;
  plan.rendering = rendering;
  plan.request = std::move(put);
}

size_t part_count(const Plan& plan, const Arguments& arguments) {
  return (arguments.size() - 1) / plan.stride;
}

node::Request part_request(const Plan& plan, const Arguments& arguments, size_t part,
                           const Connection& connection) {
  const size_t i = 1 + part * plan.stride;
  if (plan.part == Plan::Part::kGet) {
    return node::GetRequest{std::string(arguments[i]), connection.read_level};
  }
  node::PutRequest put;
  put.key = arguments[i];
  put.level = connection.write_level;
  if (plan.part == Plan::Part::kSet) {
    put.value = arguments[i + 1];
  } else {
    put.tombstone = true;
  }
  return put;
}

namespace handlers {

void get(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan_get(arguments[1], connection.read_level, Rendering::kValue, plan);
}

void strlen(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan_get(arguments[1], connection.read_level, Rendering::kLength, plan);
}

void type(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan_get(arguments[1], connection.read_level, Rendering::kType, plan);
}

void set(const Arguments& arguments, Connection& connection, Plan& plan) {
  if (!check_key(arguments[1], plan) || !check_value(arguments[2], plan)) return;
  const std::optional<SetOptions> options = parse_set_options(arguments, plan);
  if (!options) return;
  node::PutRequest put{.key = std::string(arguments[1]),
                       .value = std::string(arguments[2]),
                       .expires_in_ms = options->expires_in_ms,
                       .expires_at_ms = options->expires_at_ms,
                       .level = connection.write_level};
  const Rendering rendering = options->get ? Rendering::kValue : Rendering::kOk;
  if (!options->get && !options->keep_expiry) return plan_put(std::move(put), rendering, plan);
  plan.kind = Plan::Kind::kReadThenWrite;
  plan.rendering = rendering;
  plan.read_then_write = {.keep_expiry = options->keep_expiry,
                          .only_if_found = false,
                          .read_level = connection.read_level,
                          .put = std::move(put)};
}

void setex(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan_set_expiring(arguments, 1000, "setex", connection, plan);
}

void psetex(const Arguments& arguments, Connection& connection, Plan& plan) {
  plan_set_expiring(arguments, 1, "psetex", connection, plan);
}

void getdel(const Arguments& arguments, Connection& connection, Plan& plan) {
  if (!check_key(arguments[1], plan)) return;
  plan.kind = Plan::Kind::kReadThenWrite;
  plan.rendering = Rendering::kValue;
  plan.read_then_write = {.keep_expiry = false,
                          .only_if_found = true,
                          .read_level = connection.read_level,
                          .put = {.key = std::string(arguments[1]),
                                  .value = {},
                                  .tombstone = true,
                                  .expires_in_ms = std::nullopt,
                                  .expires_at_ms = std::nullopt,
                                  .level = connection.write_level}};
}

void del(const Arguments& arguments, Connection&, Plan& plan) {
  if (!check_keys(arguments, 1, plan)) return;
  plan_each_key(Rendering::kPartExisted, Rendering::kEndCount, Plan::Part::kDelete, 1, plan);
}

void exists(const Arguments& arguments, Connection&, Plan& plan) {
  if (!check_keys(arguments, 1, plan)) return;
  plan_each_key(Rendering::kPartFound, Rendering::kEndCount, Plan::Part::kGet, 1, plan);
}

void mget(const Arguments& arguments, Connection&, Plan& plan) {
  if (!check_keys(arguments, 1, plan)) return;
  plan_each_key(Rendering::kPartValue, Rendering::kEndValues, Plan::Part::kGet, 1, plan);
}

void mset(const Arguments& arguments, Connection&, Plan& plan) {
  if (arguments.size() % 2 == 0) {
    return answer_error("ERR wrong number of arguments for 'mset' command", plan);
  }
  if (!check_keys(arguments, 2, plan)) return;
  for (size_t i = 2; i < arguments.size(); i += 2) {
    if (!check_value(arguments[i], plan)) return;
  }
  plan_each_key(Rendering::kPartOk, Rendering::kEndOk, Plan::Part::kSet, 2, plan);
}

}  // namespace handlers
}  // namespace torc::resp
