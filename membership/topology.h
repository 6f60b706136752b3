// Topology: the agreed record of one epoch, decoded and verified. The digest covers the bytes as
// their proposer wrote them, and each record names the digest of the one before, so two records are
// equal when epoch and digest are. Immutable; shared freely.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "membership/address.h"
#include "membership/node_id.h"
#include "membership/topology.pb.h"

namespace torc::membership {

class Topology {
 public:
  // Checks the digest, the encoding and what every reader relies on: a cluster id, an epoch of at
  // least 1, partitions a power of two up to 65536, replication 1..16, members ordered by id with
  // unique ids and names, the founder among them. The error says which failed.
  static std::expected<std::shared_ptr<const Topology>, std::string> decode(
      const pb::TopologyRecord& record);

  // Seals a body: serializes it once and hashes the bytes.
  static std::expected<std::shared_ptr<const Topology>, std::string> seal(
      const pb::TopologyBody& body);

  uint64_t cluster_id() const { return body_.cluster_id(); }
  uint64_t epoch() const { return body_.epoch(); }
  uint64_t digest() const { return record_.digest(); }
  const pb::TopologyBody& body() const { return body_; }
  const pb::TopologyRecord& record() const { return record_; }
  const pb::TopologyMember* find(NodeId id) const;
  const pb::TopologyMember* find(std::string_view name) const;

  // The body of the next epoch, to be changed and sealed: epoch + 1, previous digest filled in.
  pb::TopologyBody next_body() const;

 private:
  Topology() = default;
  pb::TopologyRecord record_;
  pb::TopologyBody body_;
};

}  // namespace torc::membership
