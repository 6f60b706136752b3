// Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, SODA 2018): no member
// owns more than ceil((1 + eps) x its fair share), and a partition whose choice is full walks on.
// Rows that the walk leaves short, as the last members with room own them already, are completed by
// displacing the fewest owners, so the bound costs no replica. Pure; called by next_table.
#pragma once

#include "placement/policy.h"
#include "placement/share.h"

namespace torc::placement {

OwnerTable claim_bounded_token_ring(const PolicyInput& input);
OwnerTable claim_bounded_rendezvous(const PolicyInput& input);

// By member: the most partitions each may own.
std::vector<uint32_t> load_bounds(std::span<const RingMember> members, const RackRule& racks,
                                  uint32_t partitions, uint32_t load_percent);

}  // namespace torc::placement
