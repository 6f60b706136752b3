// Redis Cluster's hash slots: CRC16-XMODEM of the key, modulo 16384. A key with a hash tag, a
// non-empty text between its first '{' and the first '}' after that, is hashed by the tag alone, so
// that keys with one tag share a slot. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace torc::placement::compat {

constexpr uint16_t kRedisSlots = 16'384;

// Polynomial 0x1021, from 0, neither reflected nor inverted.
uint16_t crc16_xmodem(std::string_view bytes);

// The part of the key that decides its slot: the hash tag, or the whole key.
std::string_view redis_hash_tag(std::string_view key);

uint16_t redis_slot(std::string_view key);

}  // namespace torc::placement::compat
