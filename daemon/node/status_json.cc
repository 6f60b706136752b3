#include "daemon/node/status_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

namespace torc::node {
namespace {

using nlohmann::ordered_json;

std::string hex(uint64_t value) {
  return NodeId{value}.to_string();
}

const char* state_of(pb::MemberRole role) {
  switch (role) {
    case pb::JOINING:
      return "joining";
    case pb::ACTIVE:
      return "active";
    case pb::LEAVING:
      return "leaving";
    default:
      return "removed";
  }
}

uint32_t partitions_owned(const ClusterView& view, const std::vector<uint32_t>& counts,
                          const std::string& name) {
  const auto& names = view.ring().members();
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  return at != names.end() && *at == name ? counts[static_cast<size_t>(at - names.begin())] : 0;
}

}  // namespace

std::string status_json(const NodeContext& context, const StatusOperation::Replies& replies) {
  const ClusterView& view = *context.view;
  const pb::TopologyBody& body = view.topology().body();
  const std::vector<uint32_t> counts = view.ring().owned_counts();

  bool settled = true;
  ordered_json members = ordered_json::array();
  ordered_json alarms = ordered_json::array();
  for (const pb::TopologyMember& member : body.members()) {
    const NodeId id{member.id()};
    const auto reply = replies.find(id);
    const bool answered = reply != replies.end();
    const membership::Liveness liveness = context.liveness_of(id);
    members.push_back({
        {"id", id.to_string()},
        {"name", member.name()},
        {"state", state_of(member.role())},
        {"liveness", membership::to_string(liveness)},
        {"client", context.client_address_of(id).to_string()},
        {"peer", context.address_of(id).to_string()},
        {"weight", member.weight()},
        {"rack", member.rack()},
        {"partitions", partitions_owned(view, counts, member.name())},
        {"keys", answered ? ordered_json(reply->second.keys()) : ordered_json()},
        {"bytes", answered ? ordered_json(reply->second.bytes()) : ordered_json()},
        {"epoch", answered ? reply->second.epoch() : 0},
        {"digest", answered ? hex(reply->second.digest()) : ""},
    });
    if (member.role() == pb::ACTIVE) {
      settled = settled && liveness == membership::Liveness::kAlive && answered &&
                reply->second.epoch() == view.epoch() && reply->second.digest() == view.digest();
    }
    if (!answered) continue;
    for (const std::string& alarm : reply->second.alarms()) {
      alarms.push_back(member.name() + ": " + alarm);
    }
  }

  const ordered_json status = {
      {"cluster_id", hex(body.cluster_id())},
      {"epoch", view.epoch()},
      {"digest", hex(view.digest())},
      {"policy", body.parameters().policy()},
      {"partitions", body.parameters().partitions()},
      {"replication", body.parameters().replication()},
      {"me", context.name_of(context.self)},
      {"members", std::move(members)},
      {"transition", nullptr},
      {"settled", settled},
      {"shortfall", view.ring().shortfall()},
      {"hints", {{"count", 0}, {"bytes", 0}}},
      {"alarms", std::move(alarms)},
  };
  // A name or rack that is no UTF-8 must not bring the daemon down.
  return status.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string info_text(const NodeContext& context, const NodeMetrics& metrics, Instant started) {
  std::string text;
  const auto section = [&](const char* name) {
    text += text.empty() ? "# " : "\r\n# ";
    text += name;
    text += "\r\n";
  };
  const auto field = [&](const char* name, const auto& value) {
    text += name;
    text += ':';
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      text += std::to_string(value);
    } else {
      text += value;
    }
    text += "\r\n";
  };
  const auto uptime =
      std::chrono::duration_cast<std::chrono::seconds>(context.now.at - started).count();
  const ClusterView* view = context.view.get();

  section("Server");
  field("redis_version", "7.0.0");
  field("redis_mode", "standalone");
  field("torc_version", context.config.version);
  field("run_id", context.self.to_string());
  field("tcp_port", context.config.client.port);
  field("uptime_in_seconds", uptime);
  field("uptime_in_days", uptime / 86'400);

  section("Replication");
  field("role", "master");
  field("connected_slaves", 0);

  section("Cluster");
  field("cluster_enabled", 0);
  field("torc_name", context.config.name);
  field("torc_id", context.self.to_string());
  field("torc_cluster_id", view != nullptr ? hex(view->topology().cluster_id()) : "");
  field("torc_epoch", metrics.epoch);
  field("torc_digest", view != nullptr ? hex(metrics.digest) : "");
  field("torc_ready", metrics.ready ? 1 : 0);
  field("torc_members_alive", metrics.members_alive);
  field("torc_members_suspect", metrics.members_suspect);
  field("torc_members_dead", metrics.members_dead);
  field("torc_alarms", metrics.alarms);

  section("Stats");
  field("torc_gets", metrics.gets);
  field("torc_puts", metrics.puts);
  field("torc_unavailable", metrics.unavailable);
  field("torc_timeouts", metrics.timeouts);
  field("torc_stale_retries", metrics.stale_retries);
  field("torc_read_repairs", metrics.read_repairs);
  field("torc_replica_merges", metrics.replica_merges);
  field("torc_replica_reads", metrics.replica_reads);
  field("torc_operations_running", metrics.operations_running);

  section("Keyspace");
  if (metrics.keys > 0) {
    field("db0", "keys=" + std::to_string(metrics.keys) + ",expires=0,avg_ttl=0");
  }
  return text;
}

}  // namespace torc::node
