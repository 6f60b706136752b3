// Reassignment: from the table before to one in which every member owns between its least and its
// most, every row is full, and the rack rule holds, with the fewest owners that are new to their
// partition. Owners that stay keep their place in the row, a new one stands where the one it
// replaces stood. Pure; called by the policies.
#pragma once

#include <span>
#include <vector>

#include "placement/policy.h"

namespace torc::placement {

// How many partitions a member may own.
struct Limits {
  uint32_t least = 0;
  uint32_t most = 0;
};

// REQUIRES: limits by member, {0, 0} for those without weight; a table within them exists, as one
// does whenever each member's fair share lies within its limits.
OwnerTable reassign(const PreviousOwners& previous, const PolicyInput& input,
                    std::span<const Limits> limits);

}  // namespace torc::placement
