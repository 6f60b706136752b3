// BatchExecutor: runs a batch of storage requests against an engine, all reads in one MultiGet and
// all writes in one batch with one sync; later requests of the batch see earlier ones. It is what
// the storage queue's threads call, and the simulator's virtual disk as well. At most one thread
// may call execute_writes and sync, and beside it any number may call execute_reads; the usage
// table has the only lock.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "storage/engine.h"
#include "storage/request.h"
#include "storage/usage_table.h"

namespace torc::storage {

class BatchExecutor {
 public:
  // Takes stock of what the engine holds (one scan); kCorruption when a part of it cannot be read.
  // `engine` must outlive the executor.
  static Result<std::unique_ptr<BatchExecutor>> open(Engine& engine);

  // Results in order. REQUIRES: is_read() of each request.
  std::vector<StorageResult> execute_reads(std::vector<StorageRequest> requests);

  // Any requests; results in order, after the one write is durable (sync) or written. A batch with
  // a WriteMeta is always synced. A request that fails by itself (its key cannot be read, its
  // record is malformed) carries its own status; when the write fails, every other result carries
  // the write's. A batch that changes nothing writes nothing: what it found was made durable, under
  // sync, by whoever wrote it.
  std::vector<StorageResult> execute_writes(std::vector<StorageRequest> requests, bool sync);

  // Makes durable what execute_writes() wrote without sync; does nothing when all of it is.
  Status sync();

 private:
  BatchExecutor(Engine& engine, std::vector<PartitionUsage> counted)
      : engine_(engine), usage_(std::move(counted)) {}

  Engine& engine_;
  UsageTable usage_;
  bool has_unsynced_ = false;  // the writer's own
};

}  // namespace torc::storage
