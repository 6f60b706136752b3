// -log2 of a hash taken as a number in (0, 1], in integers only, so that weighted choices come out
// the same on every machine. The error stays below 2^-52; the result never exceeds 64. Pure.
#pragma once

#include <cstdint>

namespace torc::placement {

// Unsigned fixed point with this many bits behind the point.
constexpr int kLogFractionBits = 56;

// -log2((hash + 1) / 2^64).
uint64_t negative_log2(uint64_t hash);

}  // namespace torc::placement
