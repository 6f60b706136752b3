// MemoryEngine: an engine without a disk, for the simulator and for tests, that can crash: whatever
// was not synced is then gone, or a prefix of it stays, as with a log that was partly written. A
// batch is kept or lost whole, and never outlives an earlier one. Safe from any thread; a visitor
// must not call back.
#pragma once

#include <map>
#include <mutex>

#include "storage/engine.h"

namespace torc::storage {

class MemoryEngine : public Engine {
 public:
  std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) override;
  Status write(std::span<const Mutation> mutations, bool sync) override;
  Status sync() override;
  Status scan(std::string_view begin, std::string_view end, const Visitor& visit) override;
  Status delete_range(std::string_view begin, std::string_view end, bool sync) override;

  // Batches written since the last sync.
  size_t unsynced_batches() const;
  // The process dies and what is on disk is what it finds again: the synced state and the first
  // `unsynced_batches_kept` batches after it. REQUIRES: unsynced_batches_kept <=
  // unsynced_batches().
  void crash(size_t unsynced_batches_kept = 0);

 private:
  using Map = std::map<std::string, std::string, std::less<>>;
  // What to put back, in reverse order, to undo a batch.
  using UndoBatch = std::vector<Mutation>;

  // REQUIRES: mutex_ is held, in all of these.
  void apply(const Mutation& mutation, UndoBatch& undo);
  void finish_batch(UndoBatch undo, bool sync);

  mutable std::mutex mutex_;
  Map map_;
  std::vector<UndoBatch> unsynced_;
};

}  // namespace torc::storage
