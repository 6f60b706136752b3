// The rack rule: how many owners of one partition may stand in one rack, and how many owners a
// partition can then have. Racks are those of the members with weight; the others stand in none and
// own nothing. Pure; every policy obeys the same rule, and the ring checker holds them to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

struct RackRule {
  // At most ceil(replication / racks) owners of a partition share a rack: none do while there are
  // as many racks as replicas. Members that name no rack share the rack without a name.
  RackRule(std::span<const RingMember> members, uint32_t replication);

  std::vector<uint32_t> of;   // by member; racks are numbered in the order of their names
  uint32_t count = 0;         // racks
  uint32_t per_rack_max = 0;  // owners of one partition in one rack; 0 without racks
  // The owners every partition can have; less than the replication when there are too few members,
  // or too few outside the racks that are full.
  uint32_t row_owners = 0;
};

}  // namespace torc::placement
