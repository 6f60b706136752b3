// Hlc: the hybrid logical clock (Kulkarni et al. 2014), 48 bits of milliseconds since the Unix
// epoch and a 16-bit counter that carries into them. It never goes back, is ahead of everything it
// has observed, and needs no clock of its own: the wall time is passed in. One per daemon.
#pragma once

#include <cstdint>

namespace torc::storage {

class Hlc {
 public:
  static constexpr uint64_t from_ms(int64_t ms) { return static_cast<uint64_t>(ms) << 16; }
  static constexpr int64_t to_ms(uint64_t hlc) { return static_cast<int64_t>(hlc >> 16); }

  // The next time: above every earlier result and everything observed, and not before the wall
  // clock.
  uint64_t tick(int64_t wall_ms);
  // Another clock's time was seen.
  void observe(uint64_t hlc);
  // The newest time given or observed, or the wall clock when that is newer; advances nothing.
  uint64_t read(int64_t wall_ms) const;

 private:
  uint64_t last_ = 0;
};

}  // namespace torc::storage
