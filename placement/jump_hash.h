// Jump consistent hash (Lamping and Veach, "A Fast, Minimal Memory, Consistent Hash Algorithm",
// 2014): a bucket for a key, with no table at all. Growing from n to n+1 buckets moves 1/(n+1) of
// the keys, all to the last bucket; only the last bucket can be taken away. For comparison only;
// pure.
#pragma once

#include <cstdint>

namespace torc::placement {

// REQUIRES: buckets > 0. The floating point is IEEE double division and truncation, the same
// everywhere.
uint32_t jump_hash(uint64_t key, uint32_t buckets);

}  // namespace torc::placement
