// Batch: storage requests on their way through one read and one write of the engine. Each key they
// touch is a slot, loaded once and then changed in memory, so a later request sees what an earlier
// one did; what the requests changed comes out as one set of mutations. Used by BatchExecutor only,
// from one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/engine.h"
#include "storage/request.h"
#include "storage/usage_table.h"

namespace torc::storage {

// Call in order: load, run, take_mutations (once), take_results (last).
class Batch {
 public:
  explicit Batch(std::vector<StorageRequest> requests);

  // The one multi_get; none when no request names a key.
  void load(Engine& engine);
  // Fills the results, except those of ReadUsage.
  void run();

  // Empty when nothing changed. The usage changes are theirs, to be counted once they are written.
  std::vector<Mutation> take_mutations();
  const std::vector<UsageChange>& usage_changes() const { return usage_changes_; }
  // Whether the mutations hold the daemon's own state, which is always synced.
  bool changes_meta() const { return changes_meta_; }

  // Gives `status` to every result that has none of its own.
  void fail(const Status& status);
  void answer_usage_from(const UsageTable& usage);
  std::vector<StorageResult> take_results() { return std::move(results_); }

 private:
  struct Slot {
    Result<std::optional<std::string>> value;
    uint32_t uses_left = 0;  // by requests that have not run
    bool changed = false;
    // Of data keys, once changed:
    uint32_t partition = 0;
    RecordUsage before;
    RecordUsage after;
  };

  // Keys are handed out in the order in which run() asks for their slots again.
  void add_key(std::string key);
  Slot& next_slot();

  Result<ReadRecordResult> run_one(const ReadRecord& request);
  Result<MergeRecordResult> run_one(MergeRecord& request);
  Result<ReadMetaResult> run_one(const ReadMeta& request);
  Result<WriteMetaResult> run_one(WriteMeta& request);
  Result<ReadUsageResult> run_one(const ReadUsage& request);

  std::vector<StorageRequest> requests_;
  std::vector<StorageResult> results_;
  std::vector<std::string>
      keys_;  // by slot; reserved up front, so that slot_of_key_ may point into it
  std::unordered_map<std::string_view, uint32_t> slot_of_key_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> slot_order_;
  size_t slots_used_ = 0;
  std::vector<UsageChange> usage_changes_;
  bool changes_meta_ = false;
};

}  // namespace torc::storage
