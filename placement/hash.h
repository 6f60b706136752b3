// The hashes of placement: XXH3_64 over keys, members and framed pairs, and the partition of a key.
// Fixed for ever: a change of any of them moves data, so it needs a new policy version. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace torc::placement {

// XXH3_64 of the bytes.
uint64_t hash_bytes(std::string_view bytes, uint64_t seed = 0);

// XXH3_64 of the pair, each part preceded by its length (64-bit little-endian), so ("ab","c") and
// ("a","bc") differ.
uint64_t hash_pair(std::string_view first, std::string_view second, uint64_t seed = 0);

// Top bits of XXH3_64(key, seed). REQUIRES: partitions is a power of two, 1..2^24.
uint32_t partition_of(std::string_view key, uint32_t partitions, uint64_t seed);

}  // namespace torc::placement
