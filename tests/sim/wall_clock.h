// WallClock: what one machine believes the time of day to be. It starts off by some offset, runs a
// little fast or slow, and may jump either way; only the virtual clock is right. A plain value.
#pragma once

#include <cstdint>

#include "membership/instant.h"

namespace torc::sim {

class WallClock {
 public:
  static constexpr int64_t kStartMs = 1'750'000'000'000;

  WallClock() = default;
  // `drift` in parts per million.
  WallClock(int64_t offset_ms, int64_t drift) : offset_ms_(offset_ms), drift_(drift) {}

  int64_t ms(Instant now) const {
    const int64_t us = now.time_since_epoch().count();
    return kStartMs + offset_ms_ + (us + us / 1000 * drift_ / 1000) / 1000;
  }
  void jump(int64_t by_ms) { offset_ms_ += by_ms; }
  // Time service: right again, and running true.
  void correct() { *this = WallClock(); }

 private:
  int64_t offset_ms_ = 0;
  int64_t drift_ = 0;
};

}  // namespace torc::sim
