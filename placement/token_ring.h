// The token-ring policy: each member puts 128 tokens per unit of weight on the hash circle, and a
// partition belongs to the members met first when walking from its end. Adding a member moves data
// only to it, removing one only from it. Pure; called by next_table, which has checked the members.
#pragma once

#include <cstdint>
#include <span>

#include "placement/policy.h"

namespace torc::placement {

// Tokens per unit of weight.
constexpr uint32_t kTokensPerWeight = 128;
// All members together; bounds the time and memory of a claim.
constexpr uint64_t kTokensMax = 4'000'000;

// An owner that the rack rule does not allow, or that owns `owned_max[member]` partitions already,
// is passed over; partitions are served from the last to the first. No `owned_max`: no such limit.
// REQUIRES: at most kTokensMax tokens.
OwnerTable claim_token_ring(const PolicyInput& input, std::span<const uint32_t> owned_max = {});

}  // namespace torc::placement
