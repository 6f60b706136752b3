// The contents of the next epoch: the first one of a new cluster, and each later one from the one
// before and what is to change. The same input gives the same bytes on every machine. Pure; used by
// whoever decides epochs, and by everybody to check them.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "daemon/node/cluster_view.h"
#include "membership/topology.h"
#include "placement/ring_snapshot.h"

namespace torc::node {

constexpr uint32_t kRequestTimeoutMsMax = 5000;  // of a new cluster

struct Founding {
  uint64_t cluster_id = 0;
  uint64_t hash_seed = 0;
  pb::TopologyMember founder;
  uint32_t replication = 3;
  uint32_t partitions = 4096;
  std::string policy;
};

using SealedTopology = std::expected<std::shared_ptr<const membership::Topology>, std::string>;

// Epoch 1: the founder is the only member, and the cluster is closed for writes.
SealedTopology found_cluster(const Founding& founding);

struct EpochChange {
  std::vector<pb::TopologyMember> joins{};  // become active members
  bool open_writes = false;
};

// REQUIRES: no joins in the epoch that opens the cluster for writes, nor later: that would move
// keys without copying them.
SealedTopology next_epoch(const ClusterView& view, const EpochChange& change);

// The ring the claim policy gives the members of `body`, who owned `previous` (null: nobody owned
// anything).
std::expected<placement::RingSnapshot, std::string> claim(const placement::RingSnapshot* previous,
                                                          const pb::TopologyBody& body);

}  // namespace torc::node
