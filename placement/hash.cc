#include "placement/hash.h"

#include <array>
#include <bit>
#include <cassert>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace torc::placement {
namespace {

std::array<uint8_t, 8> little_endian(uint64_t value) {
  std::array<uint8_t, 8> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
  return bytes;
}

}  // namespace

uint64_t hash_bytes(std::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t hash_pair(std::string_view first, std::string_view second, uint64_t seed) {
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, seed);
  for (const std::string_view part : {first, second}) {
    const auto length = little_endian(part.size());
    XXH3_64bits_update(&state, length.data(), length.size());
    XXH3_64bits_update(&state, part.data(), part.size());
  }
  return XXH3_64bits_digest(&state);
}

uint32_t partition_of(std::string_view key, uint32_t partitions, uint64_t seed) {
  assert(std::has_single_bit(partitions) && partitions <= 1u << 24);
  if (partitions == 1) return 0;  // a shift by all 64 bits is undefined
  return static_cast<uint32_t>(hash_bytes(key, seed) >> (64 - std::countr_zero(partitions)));
}

}  // namespace torc::placement
