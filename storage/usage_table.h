// UsageTable: how many keys and bytes each partition holds, kept in memory beside the engine so
// that asking costs no reads. It counts what has been written successfully and nothing else; failed
// batches never reach it. Safe from any thread: one lock, held for a copy or a few additions.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/record.h"
#include "storage/request.h"

namespace torc::storage {

// What one stored record counts for; an absent one for nothing.
struct RecordUsage {
  bool is_key = false;  // a value, not a tombstone
  uint64_t bytes = 0;   // key and record

  static RecordUsage of(std::string_view key, std::string_view encoded, const RecordView& record) {
    return {record.version && !record.tombstone, key.size() + encoded.size()};
  }
};

struct UsageChange {
  uint32_t partition = 0;
  RecordUsage before;
  RecordUsage after;
};

class UsageTable {
 public:
  explicit UsageTable(std::vector<PartitionUsage> counted) : partitions_(std::move(counted)) {}

  // REQUIRES: the partitions are below kPartitionsMax, and each `before` was counted.
  void apply(std::span<const UsageChange> changes);
  // By partition; shorter when the tail is empty.
  std::vector<PartitionUsage> snapshot() const;

 private:
  mutable std::mutex mutex_;
  std::vector<PartitionUsage> partitions_;
};

}  // namespace torc::storage
