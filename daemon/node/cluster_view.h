// ClusterView: one epoch as the daemon uses it, the topology with its ring decoded and its members
// looked up. Immutable, and whole: readers hold a shared_ptr to one epoch and never see half of the
// next. Built once per epoch by TopologyKeeper.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "membership/topology.h"
#include "placement/ring_snapshot.h"

namespace torc::node {

// Most owners a partition can have.
constexpr uint32_t kOwnersMax = 16;

class ClusterView {
 public:
  // Refuses a topology whose ring does not decode or names strangers.
  static std::expected<std::shared_ptr<const ClusterView>, std::string> build(
      std::shared_ptr<const membership::Topology> topology);

  const membership::Topology& topology() const { return *topology_; }
  const placement::RingSnapshot& ring() const { return ring_; }
  uint64_t epoch() const { return topology_->epoch(); }
  uint64_t digest() const { return topology_->digest(); }
  bool writes_open() const { return topology_->body().writes_open(); }

  uint32_t partition_of(std::string_view key) const;
  // The owners of a partition in order, the head first; at most kOwnersMax.
  std::span<const NodeId> owners(uint32_t partition) const;

 private:
  ClusterView(std::shared_ptr<const membership::Topology> topology, placement::RingSnapshot ring,
              std::vector<NodeId> owners);

  std::shared_ptr<const membership::Topology> topology_;
  placement::RingSnapshot ring_;
  std::vector<NodeId> owners_;  // partitions x replication; zero where the list is short
};

}  // namespace torc::node
