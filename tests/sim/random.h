// Random: the simulator's only source of chance, xoshiro256** seeded by splitmix64 (Blackman and
// Vigna 2018). The same seed gives the same numbers on every machine and library, and a fork
// depends only on the seed and its purpose, so one more draw here shifts nothing there. One per
// purpose; simulator only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "membership/instant.h"

namespace torc::sim {

class Random {
 public:
  explicit Random(uint64_t seed);

  // An independent generator, the same whatever was drawn from this one before.
  Random fork(std::string_view purpose) const;
  Random fork(std::string_view purpose, uint64_t index) const;

  uint64_t next();
  // 0 .. bound-1. REQUIRES: bound > 0.
  uint64_t below(uint64_t bound);
  // low .. high, both included. REQUIRES: low <= high.
  int64_t range(int64_t low, int64_t high);
  Duration between(Duration low, Duration high);
  // True in `per_million` of a million cases.
  bool chance(uint32_t per_million);
  bool coin() { return next() >> 63; }

 private:
  uint64_t seed_;
  std::array<uint64_t, 4> state_;
};

}  // namespace torc::sim
