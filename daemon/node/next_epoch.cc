#include "daemon/node/next_epoch.h"

#include <algorithm>
#include <cassert>

#include "placement/claim.h"

namespace torc::node {

SealedTopology found_cluster(const Founding& founding) {
  pb::TopologyBody body;
  body.set_cluster_id(founding.cluster_id);
  body.set_epoch(1);
  body.set_founder(founding.founder.id());
  pb::TopologyParameters& parameters = *body.mutable_parameters();
  parameters.set_replication(founding.replication);
  parameters.set_partitions(founding.partitions);
  parameters.set_hash_seed(founding.hash_seed);
  parameters.set_policy(founding.policy);
  parameters.set_policy_version(1);
  parameters.set_request_timeout_ms_max(kRequestTimeoutMsMax);
  pb::TopologyMember& member = *body.add_members();
  member = founding.founder;
  member.set_role(pb::ACTIVE);

  const auto ring = claim(nullptr, body);
  if (!ring) return std::unexpected(ring.error());
  body.set_ring(ring->encode());
  return membership::Topology::seal(body);
}

SealedTopology next_epoch(const ClusterView& view, const EpochChange& change) {
  assert(change.joins.empty() || !(view.writes_open() || change.open_writes));
  pb::TopologyBody body = view.topology().next_body();
  for (const pb::TopologyMember& join : change.joins) {
    pb::TopologyMember& member = *body.add_members();
    member = join;
    member.set_role(pb::ACTIVE);
  }
  std::sort(body.mutable_members()->begin(), body.mutable_members()->end(),
            [](const auto& a, const auto& b) { return a.id() < b.id(); });
  if (change.open_writes) body.set_writes_open(true);

  const auto ring = claim(&view.ring(), body);
  if (!ring) return std::unexpected(ring.error());
  body.set_ring(ring->encode());
  return membership::Topology::seal(body);
}

std::expected<placement::RingSnapshot, std::string> claim(const placement::RingSnapshot* previous,
                                                          const pb::TopologyBody& body) {
  std::vector<placement::RingMember> members;
  for (const pb::TopologyMember& member : body.members()) {
    if (member.role() != pb::ACTIVE) continue;
    members.push_back({member.name(), member.weight(), member.rack()});
  }
  placement::ClaimParameters parameters;
  parameters.policy = body.parameters().policy();
  parameters.partitions = body.parameters().partitions();
  parameters.replication = body.parameters().replication();
  parameters.epoch = body.epoch();
  return placement::next_table(previous, members, parameters);
}

}  // namespace torc::node
