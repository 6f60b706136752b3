#include "storage/usage_table.h"

#include <cassert>

#include "storage/key_codec.h"

namespace torc::storage {

void UsageTable::apply(std::span<const UsageChange> changes) {
  const std::lock_guard lock(mutex_);
  for (const UsageChange& change : changes) {
    assert(change.partition < kPartitionsMax);
    if (change.partition >= partitions_.size()) partitions_.resize(change.partition + 1);
    PartitionUsage& usage = partitions_[change.partition];
    usage.keys += change.after.is_key;
    usage.bytes += change.after.bytes;
    assert(usage.keys >= change.before.is_key && usage.bytes >= change.before.bytes);
    usage.keys -= change.before.is_key;
    usage.bytes -= change.before.bytes;
  }
}

std::vector<PartitionUsage> UsageTable::snapshot() const {
  const std::lock_guard lock(mutex_);
  return partitions_;
}

}  // namespace torc::storage
