#include "daemon/node/cluster_view.h"

#include <utility>

#include "placement/hash.h"

namespace torc::node {

std::expected<std::shared_ptr<const ClusterView>, std::string> ClusterView::build(
    std::shared_ptr<const membership::Topology> topology) {
  const pb::TopologyParameters& parameters = topology->body().parameters();
  auto ring = placement::RingSnapshot::decode(topology->body().ring());
  if (!ring) return std::unexpected("the ring does not decode: " + ring.error());
  if (ring->partitions() != parameters.partitions() ||
      ring->replication() != parameters.replication()) {
    return std::unexpected("the ring has another size than the topology says");
  }

  std::vector<NodeId> ids;  // by MemberIndex
  ids.reserve(ring->members().size());
  for (const std::string& name : ring->members()) {
    const pb::TopologyMember* member = topology->find(name);
    if (member == nullptr || member->role() == pb::REMOVED) {
      return std::unexpected("the ring names '" + name + "', who is not a member");
    }
    ids.push_back({member->id()});
  }

  std::vector<NodeId> owners(size_t{ring->partitions()} * ring->replication());
  for (uint32_t partition = 0; partition < ring->partitions(); ++partition) {
    if (ring->changed_at(partition) > topology->epoch()) {
      return std::unexpected("the ring knows a change of a later epoch");
    }
    size_t at = size_t{partition} * ring->replication();
    for (const placement::MemberIndex index : ring->owners(partition)) owners[at++] = ids[index];
  }
  return std::shared_ptr<const ClusterView>(
      new ClusterView(std::move(topology), *std::move(ring), std::move(owners)));
}

ClusterView::ClusterView(std::shared_ptr<const membership::Topology> topology,
                         placement::RingSnapshot ring, std::vector<NodeId> owners)
    : topology_(std::move(topology)), ring_(std::move(ring)), owners_(std::move(owners)) {}

uint32_t ClusterView::partition_of(std::string_view key) const {
  return placement::partition_of(key, ring_.partitions(),
                                 topology_->body().parameters().hash_seed());
}

std::span<const NodeId> ClusterView::owners(uint32_t partition) const {
  return {owners_.data() + size_t{partition} * ring_.replication(), ring_.owners(partition).size()};
}

}  // namespace torc::node
