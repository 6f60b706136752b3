#include "storage/batch_executor.h"

#include <algorithm>
#include <cassert>

#include "storage/batch.h"
#include "storage/key_codec.h"
#include "storage/record.h"

namespace torc::storage {

Result<std::unique_ptr<BatchExecutor>> BatchExecutor::open(Engine& engine) {
  std::vector<PartitionUsage> counted;
  Status bad_key;
  const auto count = [&](std::string_view engine_key, std::string_view encoded) {
    const auto data = decode_data_key(engine_key);
    if (!data) {
      bad_key = Status(StatusCode::kCorruption, "a stored key is malformed");
      return false;
    }
    // A malformed record takes space and is no key; whoever reads it is told that it is corrupt.
    const RecordView record = RecordView::parse(encoded).value_or(RecordView{});
    const RecordUsage usage = RecordUsage::of(data->key, encoded, record);
    if (data->partition >= counted.size()) counted.resize(data->partition + 1);
    counted[data->partition].keys += usage.is_key;
    counted[data->partition].bytes += usage.bytes;
    return true;
  };
  const KeyRange range = data_range();
  const Status scanned = engine.scan(range.begin, range.end, count);
  if (!scanned.ok()) return std::unexpected(scanned);
  if (!bad_key.ok()) return std::unexpected(bad_key);
  return std::unique_ptr<BatchExecutor>(new BatchExecutor(engine, std::move(counted)));
}

std::vector<StorageResult> BatchExecutor::execute_reads(std::vector<StorageRequest> requests) {
  assert(std::ranges::all_of(requests, is_read));
  Batch batch(std::move(requests));
  batch.load(engine_);
  batch.run();
  batch.answer_usage_from(usage_);
  return batch.take_results();
}

std::vector<StorageResult> BatchExecutor::execute_writes(std::vector<StorageRequest> requests,
                                                         bool sync) {
  Batch batch(std::move(requests));
  batch.load(engine_);
  batch.run();
  if (const std::vector<Mutation> mutations = batch.take_mutations(); !mutations.empty()) {
    const bool synced = sync || batch.changes_meta();
    const Status written = engine_.write(mutations, synced);
    if (written.ok()) {
      usage_.apply(batch.usage_changes());
      has_unsynced_ = !synced;  // a synced write takes everything before it along
    } else {
      batch.fail(written);
    }
  }
  batch.answer_usage_from(usage_);
  return batch.take_results();
}

Status BatchExecutor::sync() {
  if (!has_unsynced_) return {};
  const Status synced = engine_.sync();
  if (synced.ok()) has_unsynced_ = false;
  return synced;
}

}  // namespace torc::storage
