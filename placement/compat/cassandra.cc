#include "placement/compat/cassandra.h"

#include <bit>
#include <limits>

namespace torc::placement::compat {
namespace {

constexpr uint64_t kC1 = 0x87c3'7b91'1142'53d5;
constexpr uint64_t kC2 = 0x4cf5'ad43'2745'937f;
constexpr size_t kBlock = 16;

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// The bytes of half a tail, each sign-extended before it is shifted: where the reference
// implementation and Cassandra part for bytes above 0x7f.
uint64_t signed_tail(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto extended = static_cast<uint64_t>(int64_t{static_cast<int8_t>(bytes[i])});
    value ^= extended << (8 * i);
  }
  return value;
}

uint64_t mix1(uint64_t k) {
  return std::rotl(k * kC1, 31) * kC2;
}

uint64_t mix2(uint64_t k) {
  return std::rotl(k * kC2, 33) * kC1;
}

uint64_t finish(uint64_t k) {
  k = (k ^ k >> 33) * 0xff51'afd7'ed55'8ccd;
  k = (k ^ k >> 33) * 0xc4ce'b9fe'1a85'ec53;
  return k ^ k >> 33;
}

}  // namespace

int64_t cassandra_token(std::string_view key) {
  if (key.empty()) return std::numeric_limits<int64_t>::min();
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  std::string_view rest = key;
  for (; rest.size() >= kBlock; rest.remove_prefix(kBlock)) {
    h1 ^= mix1(little_endian(rest));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dc'e729;
    h2 ^= mix2(little_endian(rest.substr(8)));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x3849'5ab5;
  }
  if (rest.size() > 8) h2 ^= mix2(signed_tail(rest.substr(8)));
  h1 ^= mix1(signed_tail(rest.substr(0, 8)));

  h1 ^= key.size();
  h2 ^= key.size();
  h1 += h2;
  h2 += h1;
  h1 = finish(h1);
  h2 = finish(h2);
  const auto token = static_cast<int64_t>(h1 + h2);
  return token == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : token;
}

}  // namespace torc::placement::compat
