// Instant and Duration: the core's time, in microseconds, always passed in and never asked for.
// Instant is monotonic and means nothing outside one process; Now adds the wall clock, which only
// the hybrid logical clock may use. Plain values.
#pragma once

#include <chrono>
#include <cstdint>

namespace torc {

using Duration = std::chrono::microseconds;

// A clock without now(): the core cannot read it.
struct CoreClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<CoreClock, Duration>;
  static constexpr bool is_steady = true;
};

using Instant = CoreClock::time_point;

constexpr Instant kNever = Instant::max();

struct Now {
  Instant at;           // monotonic
  int64_t wall_ms = 0;  // since the Unix epoch; may jump
};

}  // namespace torc
