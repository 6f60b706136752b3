// The choice of a server at request time under a bound: the first of a preference list that has no
// more than its part of the work in progress. So a hot partition spills to its next owners instead
// of piling up on its first. Pure; for whoever sends a request that any owner can answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "placement/ring_snapshot.h"

namespace torc::placement {

// The most a member may have in progress, the request at hand included:
// ceil(percent / 100 x (total + 1) x weight / weights), at least 1. REQUIRES: weights > 0,
// total < 2^40 and percent <= 1000.
uint64_t load_bound(uint64_t total, uint64_t weight, uint64_t weights, uint32_t percent);

struct CurrentLoads {
  std::span<const uint64_t> in_progress;  // by MemberIndex, all members of the table
  std::span<const uint32_t> weights;      // likewise; empty: all equal
  uint32_t percent = 125;                 // 100 x (1 + eps)
};

// Nothing when every member of the list is at its bound: the caller decides whether to wait or to
// overload. REQUIRES: the list's members have loads; weights none or as many as loads.
std::optional<MemberIndex> first_under_bound(std::span<const MemberIndex> preference_list,
                                             const CurrentLoads& loads);

}  // namespace torc::placement
