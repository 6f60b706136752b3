#include "placement/jump_hash.h"

#include <cassert>

namespace torc::placement {

uint32_t jump_hash(uint64_t key, uint32_t buckets) {
  assert(buckets > 0);
  int64_t bucket = -1;
  int64_t next = 0;
  while (next < int64_t{buckets}) {
    bucket = next;
    key = key * 2'862'933'555'777'941'757u + 1;
    const auto leap = static_cast<double>(int64_t{1} << 31) / static_cast<double>((key >> 33) + 1);
    next = static_cast<int64_t>(static_cast<double>(bucket + 1) * leap);
  }
  return static_cast<uint32_t>(bucket);
}

}  // namespace torc::placement
