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

const redisReply* element(const redisReply& array, size_t index) {
  return array.type == REDIS_REPLY_ARRAY && index < array.elements ? array.element[index] : nullptr;
}

bool is_text(const redisReply* reply) {
  return reply && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS);
}

}  // namespace

Outcome owners(Client& client, const std::string& key, bool json) {
  auto reply = client.run({"TORC.OWNERS", key});
  if (!reply) return std::unexpected(reply.error());

  // A map: "partition" -> integer, "owners" -> list of [name, id, client, liveness]. RESP2 flattens
  // it.
  const redisReply* partition = nullptr;
  const redisReply* list = nullptr;
  for (size_t i = 0; element(**reply, i + 1); i += 2) {
    const redisReply* name = element(**reply, i);
    if (!is_text(name)) return strange("TORC.OWNERS");
    if (text_of(*name) == "partition") partition = element(**reply, i + 1);
    if (text_of(*name) == "owners") list = element(**reply, i + 1);
  }
  if (!partition || partition->type != REDIS_REPLY_INTEGER || !list ||
      list->type != REDIS_REPLY_ARRAY) {
    return strange("TORC.OWNERS");
  }

  Table table({{"NAME"}, {"LIVENESS"}, {"CLIENT"}, {"ID"}});
  Json rows = Json::array();
  for (size_t i = 0; i < list->elements; ++i) {
    std::array<std::string, 4> fields;
    for (size_t j = 0; j < fields.size(); ++j) {
      const redisReply* field = element(*list->element[i], j);
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
