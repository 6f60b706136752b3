#include "storage/hlc.h"

#include <algorithm>
#include <limits>

namespace torc::storage {
namespace {

// A wall clock before 1970 counts as 1970, one past the 48 bits (the year 10889) as their end.
uint64_t clamped(int64_t wall_ms) {
  constexpr int64_t kMsMax = (int64_t{1} << 48) - 1;
  return Hlc::from_ms(std::clamp<int64_t>(wall_ms, 0, kMsMax));
}

}  // namespace

uint64_t Hlc::tick(int64_t wall_ms) {
  // At the end of time the clock stands still rather than wrap to its beginning.
  const uint64_t next = last_ == std::numeric_limits<uint64_t>::max() ? last_ : last_ + 1;
  last_ = std::max(next, clamped(wall_ms));
  return last_;
}

void Hlc::observe(uint64_t hlc) {
  last_ = std::max(last_, hlc);
}

uint64_t Hlc::read(int64_t wall_ms) const {
  return std::max(last_, clamped(wall_ms));
}

}  // namespace torc::storage
