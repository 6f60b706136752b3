#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "daemon/ctl/commands.h"
#include "daemon/ctl/table.h"

namespace torc::ctl {
namespace {

using Json = nlohmann::json;
using enum Table::Align;

std::expected<Json, std::string> fetch_status(Client& client) {
  auto reply = client.run({"TORC.STATUS"});
  if (!reply) return std::unexpected(reply.error());
  if ((*reply)->type != REDIS_REPLY_STRING) return std::unexpected("TORC.STATUS gave no text");
  Json status = Json::parse(text_of(**reply), nullptr, false);
  if (!status.is_object() || !status.value("members", Json()).is_array()) {
    return std::unexpected("TORC.STATUS gave no status");
  }
  // The cluster orders members by id, which tells a person nothing.
  const auto name = [](const Json& member) { return member.value("name", std::string()); };
  std::ranges::stable_sort(status["members"].get_ref<Json::array_t&>(), {}, name);
  return status;
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(const Json& json) {
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// A field as a person reads it: "-" where there is nothing.
std::string cell(const Json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return "-";
  if (found->is_string()) {
    const std::string& text = found->get_ref<const std::string&>();
    return text.empty() ? "-" : text;
  }
  return found->dump();
}

uint64_t number(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found != object.end() && found->is_number() ? found->get<uint64_t>() : 0;
}

std::string member_table(const Json& status) {
  Table table({{"NAME"},
               {"STATE"},
               {"LIVENESS"},
               {"CLIENT"},
               {"PEER"},
               {"WEIGHT", kRight},
               {"RACK"},
               {"PARTITIONS", kRight},
               {"KEYS", kRight},
               {"BYTES", kRight},
               {"EPOCH", kRight},
               {"DIGEST"},
               {"ID"}});
  for (const Json& member : status["members"]) {
    table.add({cell(member, "name"), cell(member, "state"), cell(member, "liveness"),
               cell(member, "client"), cell(member, "peer"), cell(member, "weight"),
               cell(member, "rack"), cell(member, "partitions"), cell(member, "keys"),
               cell(member, "bytes"), cell(member, "epoch"), cell(member, "digest"),
               cell(member, "id")});
  }
  return table.to_string();
}

std::string percent(uint64_t part, uint64_t whole) {
  char text[32];
  const double share =
      whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  std::snprintf(text, sizeof text, "%.2f", share);
  return text;
}

}  // namespace

Outcome status(Client& client, bool json) {
  const auto status = fetch_status(client);
  if (!status) return std::unexpected(status.error());
  if (json) {
    print(*status);
    return {};
  }
  const Json alarms = status->value("alarms", Json::array());
  const bool settled = status->value("settled", Json()) == Json(true);
  print("cluster    " + cell(*status, "cluster_id") + "\n" + "epoch      " +
        cell(*status, "epoch") + " (digest " + cell(*status, "digest") + ")\n" + "placement  " +
        cell(*status, "policy") + ", " + cell(*status, "partitions") + " partitions, replication " +
        cell(*status, "replication") + "\n" + "settled    " + (settled ? "yes" : "no") + "\n" +
        "shortfall  " + cell(*status, "shortfall") + "\n" + "answered   by " + cell(*status, "me") +
        "\n");
  for (const Json& alarm : alarms) {
    print("ALARM      " + (alarm.is_string() ? alarm.get<std::string>() : alarm.dump()) + "\n");
  }
  print("\n" + member_table(*status));
  return {};
}

Outcome members(Client& client, bool json) {
  const auto status = fetch_status(client);
  if (!status) return std::unexpected(status.error());
  json ? print((*status)["members"]) : print(member_table(*status));
  return {};
}

Outcome ring(Client& client, bool json) {
  const auto status = fetch_status(client);
  if (!status) return std::unexpected(status.error());

  uint64_t total = 0;
  for (const Json& member : (*status)["members"]) total += number(member, "partitions");
  Json rows = Json::array();
  Table table({{"NAME"}, {"WEIGHT", kRight}, {"RACK"}, {"REPLICAS", kRight}, {"SHARE %", kRight}});
  for (const Json& member : (*status)["members"]) {
    const uint64_t replicas = number(member, "partitions");
    const std::string share = percent(replicas, total);
    table.add({cell(member, "name"), cell(member, "weight"), cell(member, "rack"),
               std::to_string(replicas), share});
    rows.push_back({{"name", member.value("name", "")},
                    {"id", member.value("id", "")},
                    {"weight", number(member, "weight")},
                    {"rack", member.value("rack", "")},
                    {"replicas", replicas},
                    {"share_pct", std::stod(share)}});
  }
  if (json) {
    Json out;
    for (const char* field :
         {"cluster_id", "epoch", "digest", "policy", "partitions", "replication", "shortfall"}) {
      out[field] = status->value(field, Json());
    }
    out["members"] = std::move(rows);
    print(out);
    return {};
  }
  print("epoch " + cell(*status, "epoch") + ": " + cell(*status, "policy") + ", " +
        cell(*status, "partitions") + " partitions, replication " + cell(*status, "replication") +
        ", shortfall " + cell(*status, "shortfall") + "\n\n" + table.to_string());
  return {};
}

}  // namespace torc::ctl
