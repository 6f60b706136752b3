// The Maglev table (Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load Balancer",
// NSDI 2016): the members take turns at claiming the next free entry of their own permutation, so
// that a lookup is one read and shares are nearly even. A change moves a little more than it must.
// For comparison only; pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

// A prime, as the permutations need, and far above a hundred entries for each of many members.
constexpr uint32_t kMaglevTableSize = 65'537;

// The member of each entry, by position in the list. A member of weight w takes w turns where the
// heaviest takes as many as its own weight. REQUIRES: some member has weight; size is a prime.
std::vector<MemberIndex> maglev_table(std::span<const RingMember> members,
                                      uint32_t size = kMaglevTableSize);

}  // namespace torc::placement
