// OwnerTable: who owns what, as a policy hands it over, laid out the way RingSnapshot keeps it.
// Each row's owners are distinct and stand at its front; a row shorter than the replication is an
// explicit shortfall. Plain data; every policy makes one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

// No member: an empty place in a row.
constexpr MemberIndex kNobody = UINT16_MAX;

struct OwnerTable {
  OwnerTable(uint32_t partitions, uint32_t replication_in)
      : replication(replication_in),
        owners(size_t{partitions} * replication_in, 0),
        owner_counts(partitions, 0) {}

  uint32_t partitions() const { return static_cast<uint32_t>(owner_counts.size()); }
  std::span<const MemberIndex> row(uint32_t partition) const {
    return {owners.data() + size_t{partition} * replication, owner_counts[partition]};
  }
  // REQUIRES: the row is not full.
  void append(uint32_t partition, MemberIndex member) {
    owners[size_t{partition} * replication + owner_counts[partition]++] = member;
  }

  uint32_t replication;
  std::vector<MemberIndex> owners;    // partitions x replication, row by row
  std::vector<uint8_t> owner_counts;  // by partition
};

}  // namespace torc::placement
