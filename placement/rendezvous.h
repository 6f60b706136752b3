// Rendezvous hashing: every partition ranks all members by a hash of the pair, and the first ones
// own it (Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", 1998). Adding
// a member moves data only to it, removing one only from it, and the others never change their
// order. Pure; called by next_table, which has checked the members, and by the bounded policy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/policy.h"

namespace torc::placement {

// A member's claim to a partition: the smaller -ln(u) / weight the better, u being the hash as a
// number in (0, 1]. It makes shares proportional to weights (Schindelhauer and Schomaker, "Weighted
// Distributed Hash Tables", 2005); hash x weight would not. Kept as a fraction and compared
// exactly; equal ones go by the hash.
struct RendezvousScore {
  uint64_t cost = 0;  // -log2(u), in units of 2^-56
  uint32_t weight = 1;
  uint64_t hash = 0;

  bool beats(const RendezvousScore& other) const;
};

// The score of hash_pair(partition as four bytes little-endian, name). REQUIRES: weight > 0.
RendezvousScore rendezvous_score(uint32_t partition, const RingMember& member);

// The members with weight, best first; equal scores by name. REQUIRES: sorted by name, as below.
std::vector<MemberIndex> rendezvous_ranking(std::span<const RingMember> members,
                                            uint32_t partition);

// Walks down the ranking, passing over a member that the rack rule does not allow or that owns
// `owned_max[member]` partitions already. No `owned_max`: no such limit.
OwnerTable claim_rendezvous(const PolicyInput& input, std::span<const uint32_t> owned_max = {});

// Ranks the racks by the same rule, a rack weighing what its members do, and takes the best member
// of each in turn until the row is full. A change within a rack then moves data between its members
// and, as the rack's weight changes, to or from it; the order of the other racks never changes.
OwnerTable claim_rendezvous_rack_first(const PolicyInput& input);

}  // namespace torc::placement
