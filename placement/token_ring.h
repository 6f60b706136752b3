// The token-ring policy: each member puts 128 tokens per unit of weight on the hash circle, and a
// partition belongs to the members met first when walking from its end. Adding a member moves data
// only to it, removing one only from it. Pure; called by next_table, which has checked the members.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

// Tokens per unit of weight.
constexpr uint32_t kTokensPerWeight = 128;
// All members together; bounds the time and memory of a claim.
constexpr uint64_t kTokensMax = 4'000'000;

// Who owns what, laid out as RingSnapshot keeps it.
struct OwnerTable {
  std::vector<MemberIndex> owners;    // partitions x replication, row by row
  std::vector<uint8_t> owner_counts;  // by partition
};

// At most ceil(replication / racks) owners of one partition stand in one rack, racks being those of
// the members that own anything; what this or the number of members does not allow is left out.
// REQUIRES: members sorted by name, names unique, partitions a power of two, at most kTokensMax
// tokens.
OwnerTable claim_token_ring(std::span<const RingMember> members, uint32_t partitions,
                            uint32_t replication);

}  // namespace torc::placement
