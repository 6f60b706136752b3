#include "placement/ring_hash.h"

#include <openssl/evp.h>
#include <zlib.h>

#include <cassert>
#include <cstdlib>

#include "placement/hash.h"

namespace torc::placement {
namespace {

__extension__ using Uint128 = unsigned __int128;

uint64_t big_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < 8; ++i) value = value << 8 | bytes[i];
  return value;
}

struct Name {
  RingHash hash;
  std::string_view name;
  uint32_t bits;
};
constexpr std::array kNames = {Name{RingHash::kXxh3, "xxh3", 64}, Name{RingHash::kMd5, "md5", 128},
                               Name{RingHash::kCrc32, "crc32", 32},
                               Name{RingHash::kFnv1a32, "fnv1a32", 32}};

}  // namespace

uint64_t RingValue::modulo(uint64_t divisor) const {
  assert(divisor > 0);
  return static_cast<uint64_t>((Uint128{high} << 64 | low) % divisor);
}

uint32_t bits_of(RingHash hash) {
  return kNames[static_cast<size_t>(hash)].bits;
}

std::string_view name_of(RingHash hash) {
  return kNames[static_cast<size_t>(hash)].name;
}

std::optional<RingHash> parse_ring_hash(std::string_view name) {
  for (const Name& known : kNames) {
    if (known.name == name) return known.hash;
  }
  return std::nullopt;
}

RingValue hash_value(RingHash hash, std::string_view bytes) {
  switch (hash) {
    case RingHash::kXxh3:
      return {0, hash_bytes(bytes)};
    case RingHash::kMd5: {
      const auto digest = md5(bytes);
      return {big_endian(digest.data()), big_endian(digest.data() + 8)};
    }
    case RingHash::kCrc32:
      return {0, crc32_ieee(bytes)};
    case RingHash::kFnv1a32:
      return {0, fnv1a_32(bytes)};
  }
  assert(false);
  return {};
}

std::array<uint8_t, 16> md5(std::string_view bytes) {
  // Fetched once: looking the algorithm up costs more than a short digest.
  static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "MD5", nullptr);
  std::array<uint8_t, 16> digest;
  unsigned size = 0;
  // Fails only where libcrypto has no MD5 or no memory, and then nothing here can be right.
  if (!algorithm ||
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, algorithm, nullptr) != 1) {
    std::abort();
  }
  assert(size == digest.size());
  return digest;
}

uint32_t crc32_ieee(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

uint32_t fnv1a_32(std::string_view bytes) {
  uint32_t hash = 2'166'136'261u;
  for (const char byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 16'777'619u;
  return hash;
}

}  // namespace torc::placement
