// RingHash: the hashes a ring over keys may use, and the values they give. The store itself hashes
// with XXH3-64; the others are there for the rings of other systems and for teaching, and none is
// ever changed. Pure; any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace torc::placement {

enum class RingHash : uint8_t {
  kXxh3,     // 64 bits
  kMd5,      // 128 bits: the digest read as one big-endian integer
  kCrc32,    // 32 bits, IEEE 802.3
  kFnv1a32,  // 32 bits
};

// An unsigned number of up to 128 bits: a hash, or a place on the circle.
struct RingValue {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const RingValue&) const = default;
  // The remainder of the whole number. REQUIRES: divisor > 0.
  uint64_t modulo(uint64_t divisor) const;
};

// The width of a hash: 32, 64 or 128.
uint32_t bits_of(RingHash hash);

RingValue hash_value(RingHash hash, std::string_view bytes);

// The names of the command line: xxh3, md5, crc32, fnv1a32.
std::string_view name_of(RingHash hash);
std::optional<RingHash> parse_ring_hash(std::string_view name);

std::array<uint8_t, 16> md5(std::string_view bytes);
uint32_t crc32_ieee(std::string_view bytes);
uint32_t fnv1a_32(std::string_view bytes);

}  // namespace torc::placement
