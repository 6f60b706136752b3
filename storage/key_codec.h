// Key codec: where things stand in an engine's key space: `d | partition (32-bit big-endian) | key`
// holds the record of a client's key, `m | name` a value of the daemon itself. A partition is one
// contiguous range, in the order of its keys, and no two kinds of key ever mix. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torc::storage {

// One more than the greatest partition a key may name; the most that a cluster can have.
constexpr uint32_t kPartitionsMax = 1u << 24;

struct KeyRange {
  std::string begin;  // inclusive
  std::string end;    // exclusive
};

// REQUIRES: partition < kPartitionsMax, here and below.
std::string data_key(uint32_t partition, std::string_view key);
std::string meta_key(std::string_view name);

KeyRange partition_range(uint32_t partition);
// The records of all partitions.
KeyRange data_range();

struct DataKey {
  uint32_t partition;
  std::string_view key;  // a view into what was decoded
};
// The inverse of data_key(); nullopt for anything else.
std::optional<DataKey> decode_data_key(std::string_view engine_key);

}  // namespace torc::storage
