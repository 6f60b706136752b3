#include "placement/ring_hash.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "placement/hash.h"

namespace torc::placement {
namespace {

std::string hex(const std::array<uint8_t, 16>& digest) {
  std::string out;
  for (const uint8_t byte : digest) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

// The part of the keys that `hash mod n` sends elsewhere when n grows by one, in percent
// with one digit.
double moved_by_modulo(uint64_t from) {
  constexpr int kKeys = 100'000;
  int moved = 0;
  for (int i = 0; i < kKeys; ++i) {
    const RingValue hash = hash_value(RingHash::kMd5, "key" + std::to_string(i));
    moved += hash.modulo(from) != hash.modulo(from + 1) ? 1 : 0;
  }
  return std::round(1000.0 * moved / kKeys) / 10;
}

TEST_CASE("ring hash: the published vectors of MD5, CRC32 and FNV-1a hold") {
  CHECK(hex(md5("")) == "d41d8cd98f00b204e9800998ecf8427e");
  CHECK(hex(md5("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0");
  CHECK(crc32_ieee("123456789") == 0xcbf43926);
  CHECK(crc32_ieee("") == 0);
  CHECK(fnv1a_32("") == 0x811c9dc5);
  CHECK(fnv1a_32("foobar") == 0xbf9cf968);
}

TEST_CASE("ring hash: bytes above 0x7f are hashed as they are") {
  CHECK(fnv1a_32("\xff") == (0x811c9dc5u ^ 0xff) * 16'777'619u);
  CHECK(crc32_ieee("\xff") == 0xff000000);
}

TEST_CASE("ring hash: MD5 is read as one big-endian integer of 128 bits") {
  const RingValue value = hash_value(RingHash::kMd5, "");
  CHECK(value.high == 0xd41d8cd98f00b204);
  CHECK(value.low == 0xe9800998ecf8427e);
  CHECK(value.modulo(10) == 6);  // 281949768489412648962353822266799178366
}

TEST_CASE("ring hash: the store's own hash is XXH3-64") {
  CHECK(hash_value(RingHash::kXxh3, "key") == RingValue{0, hash_bytes("key")});
}

TEST_CASE("ring hash: the remainder is that of the whole 128 bits") {
  CHECK(RingValue{1, 0}.modulo(10) == 6);  // 2^64 = 18446744073709551616
  CHECK(RingValue{0, 25}.modulo(10) == 5);
  CHECK(RingValue{UINT64_MAX, UINT64_MAX}.modulo(UINT64_MAX) == 0);
}

TEST_CASE("ring hash: every hash has a name, and the name finds it") {
  for (const RingHash hash :
       {RingHash::kXxh3, RingHash::kMd5, RingHash::kCrc32, RingHash::kFnv1a32}) {
    CHECK(parse_ring_hash(name_of(hash)) == hash);
  }
  CHECK_FALSE(parse_ring_hash("sha1").has_value());
  CHECK(bits_of(RingHash::kMd5) == 128);
  CHECK(bits_of(RingHash::kCrc32) == 32);
}

TEST_CASE("modulo: 10 -> 11 nodes moves 90.8 % of the keys, 3 -> 4 74.8 %, 4 -> 5 80.0 %") {
  CHECK(moved_by_modulo(10) == 90.8);
  CHECK(moved_by_modulo(3) == 74.8);
  CHECK(moved_by_modulo(4) == 80.0);
}

}  // namespace
}  // namespace torc::placement
