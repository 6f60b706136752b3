// The policies by name: each is a pure function from what is known to the table of owners. The
// members it gets are checked and sorted by name, so the same members give the same table whatever
// order they came in. Called by next_table; the names are for whoever lets people choose.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "placement/owner_table.h"
#include "placement/rack_rule.h"

namespace torc::placement {

// The table before, in the indices of today's members.
struct PreviousOwners {
  uint32_t replication = 0;
  std::vector<MemberIndex> owners;  // partitions x replication; kNobody: none, or one that left

  std::span<const MemberIndex> row(uint32_t partition) const {
    return {owners.data() + size_t{partition} * replication, replication};
  }
};

struct PolicyInput {
  const PreviousOwners* previous = nullptr;  // null: the first epoch
  std::span<const RingMember> members;       // sorted by name, names unique, some with weight
  const RackRule& racks;
  uint32_t partitions;  // a power of two
  uint32_t replication;
  uint32_t load_percent;  // of the bounded policies
};

using Policy = OwnerTable (*)(const PolicyInput&);

// Null when no policy has that name.
Policy find_policy(std::string_view name);

// Sorted.
std::span<const std::string_view> policy_names();

// Whether the policy's time grows with the sum of the weights, which is then limited.
bool has_tokens(std::string_view policy);

}  // namespace torc::placement
