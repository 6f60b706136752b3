#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "daemon/ctl/commands.h"
#include "daemon/ctl/table.h"

namespace torc::ctl {
namespace {

using Json = nlohmann::json;

// One more than the cluster takes, so that it is the cluster that refuses a longer value.
constexpr size_t kInputBytesMax = 16 * 1024 * 1024 + 1;

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const std::string_view group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j) {
      bits = bits << 8 | (j < group.size() ? static_cast<uint8_t>(group[j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += j <= group.size() ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

// JSON holds UTF-8 only; other bytes go into FIELD_base64.
void set_bytes(Json& object, const std::string& field, std::string_view bytes) {
  Json text = std::string(bytes);
  try {
    text.dump();
    object[field] = std::move(text);
  } catch (const Json::type_error&) {
    object[field + "_base64"] = base64(bytes);
  }
}

void print_json(const Json& json) {
  print(json.dump(2) + "\n");
}

std::optional<std::string> read_input() {
  std::string value;
  std::array<char, 65536> buffer;
  while (value.size() < kInputBytesMax) {
    const size_t room = std::min(buffer.size(), kInputBytesMax - value.size());
    const size_t got = std::fread(buffer.data(), 1, room, stdin);
    value.append(buffer.data(), got);
    if (got < room) break;
  }
  if (std::ferror(stdin)) return std::nullopt;
  return value;
}

// An answer that is not what the command promises.
std::unexpected<std::string> strange(std::string_view command) {
  return std::unexpected("the answer to " + std::string(command) + " is not understood");
}

bool is_text(const redisReply* reply) {
  return reply && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS);
}

// A field of a map, which Redis protocol 2 sends as a list of names and values; null when there is
// none.
const redisReply* field_of(const redisReply& map, std::string_view name) {
  if (map.type != REDIS_REPLY_ARRAY) return nullptr;
  for (size_t i = 0; i + 1 < map.elements; i += 2) {
    if (is_text(map.element[i]) && text_of(*map.element[i]) == name) return map.element[i + 1];
  }
  return nullptr;
}

constexpr std::array kOwnerFields = {"name", "id", "client", "liveness"};

}  // namespace

Outcome owners(Client& client, const std::string& key, bool json) {
  auto reply = client.run({"TORC.OWNERS", key});
  if (!reply) return std::unexpected(reply.error());

  const redisReply* partition = field_of(**reply, "partition");
  const redisReply* list = field_of(**reply, "owners");
  if (!partition || partition->type != REDIS_REPLY_INTEGER || !list ||
      list->type != REDIS_REPLY_ARRAY) {
    return strange("TORC.OWNERS");
  }

  Table table({{"NAME"}, {"LIVENESS"}, {"CLIENT"}, {"ID"}});
  Json rows = Json::array();
  for (size_t i = 0; i < list->elements; ++i) {
    std::array<std::string, 4> fields;
    for (size_t j = 0; j < fields.size(); ++j) {
      const redisReply* field = field_of(*list->element[i], kOwnerFields[j]);
      if (!is_text(field)) return strange("TORC.OWNERS");
      fields[j] = text_of(*field);
    }
    const auto& [name, id, address, liveness] = fields;
    table.add({name, liveness, address, id});
    rows.push_back({{"name", name}, {"id", id}, {"client", address}, {"liveness", liveness}});
  }
  if (json) {
    print_json({{"partition", partition->integer}, {"owners", std::move(rows)}});
  } else {
    print("partition " + std::to_string(partition->integer) + "\n" + table.to_string());
  }
  return {};
}

Outcome get(Client& client, const std::string& key, bool json) {
  auto reply = client.run({"GET", key});
  if (!reply) return std::unexpected(reply.error());
  if ((*reply)->type == REDIS_REPLY_NIL) return std::unexpected("(nil): no such key");
  if ((*reply)->type != REDIS_REPLY_STRING) return strange("GET");
  const std::string_view value = text_of(**reply);
  if (json) {
    Json out;
    set_bytes(out, "key", key);
    set_bytes(out, "value", value);
    print_json(out);
    return {};
  }
  print(value);
  if (isatty(STDOUT_FILENO)) print("\n");
  return {};
}

Outcome put(Client& client, const std::string& key, const std::string& value, bool json) {
  std::optional<std::string> input;
  if (value == "-") {
    input = read_input();
    if (!input) return std::unexpected("standard input cannot be read");
  }
  auto reply = client.run({"SET", key, input ? *input : value});
  if (!reply) return std::unexpected(reply.error());
  json ? print_json({{"ok", true}}) : print("OK\n");
  return {};
}

Outcome del(Client& client, const std::string& key, bool json) {
  auto reply = client.run({"DEL", key});
  if (!reply) return std::unexpected(reply.error());
  if ((*reply)->type != REDIS_REPLY_INTEGER) return strange("DEL");
  const bool existed = (*reply)->integer > 0;
  if (json) {
    print_json({{"deleted", existed}});
  } else {
    print(existed ? "deleted\n" : "there was no such key\n");
  }
  return {};
}

}  // namespace torc::ctl
