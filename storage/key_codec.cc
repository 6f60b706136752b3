#include "storage/key_codec.h"

#include <cassert>

namespace torc::storage {
namespace {

constexpr char kData = 'd';
constexpr char kMeta = 'm';
constexpr size_t kDataPrefixBytes = 1 + sizeof(uint32_t);

void append_big_endian(std::string& out, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

}  // namespace

std::string data_key(uint32_t partition, std::string_view key) {
  assert(partition < kPartitionsMax);
  std::string out;
  out.reserve(kDataPrefixBytes + key.size());
  out.push_back(kData);
  append_big_endian(out, partition);
  out.append(key);
  return out;
}

std::string meta_key(std::string_view name) {
  std::string out;
  out.reserve(1 + name.size());
  out.push_back(kMeta);
  out.append(name);
  return out;
}

KeyRange partition_range(uint32_t partition) {
  KeyRange range{data_key(partition, {}), std::string(1, kData)};
  append_big_endian(range.end, partition + 1);
  return range;
}

KeyRange data_range() {
  return {std::string(1, kData), std::string(1, kData + 1)};
}

std::optional<DataKey> decode_data_key(std::string_view engine_key) {
  if (engine_key.size() < kDataPrefixBytes || engine_key[0] != kData) return std::nullopt;
  uint32_t partition = 0;
  for (size_t i = 1; i < kDataPrefixBytes; ++i) {
    partition = partition << 8 | static_cast<uint8_t>(engine_key[i]);
  }
  if (partition >= kPartitionsMax) return std::nullopt;
  return DataKey{partition, engine_key.substr(kDataPrefixBytes)};
}

}  // namespace torc::storage
