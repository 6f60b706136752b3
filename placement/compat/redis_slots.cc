#include "placement/compat/redis_slots.h"

#include <array>

namespace torc::placement::compat {
namespace {

constexpr std::array<uint16_t, 256> kTable = [] {
  std::array<uint16_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}();

}  // namespace

uint16_t crc16_xmodem(std::string_view bytes) {
  uint16_t crc = 0;
  for (const char byte : bytes) {
    crc = static_cast<uint16_t>(crc << 8 ^ kTable[crc >> 8 ^ static_cast<uint8_t>(byte)]);
  }
  return crc;
}

std::string_view redis_hash_tag(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

uint16_t redis_slot(std::string_view key) {
  return crc16_xmodem(redis_hash_tag(key)) % kRedisSlots;
}

}  // namespace torc::placement::compat
