// BatchExecutor: runs a batch of storage requests against an engine, all reads in one MultiGet and all
// writes in one batch with one sync; later requests of the batch see earlier ones. It is what the storage
// queue's threads call, and the simulator's virtual disk as well. At most one thread may call execute_writes
// and, beside it, any number may call execute_reads.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "storage/engine.h"
#include "storage/request.h"

namespace torc::storage {

class BatchExecutor {
 public:
  // Takes stock of what the engine holds (one scan). `engine` must outlive the executor.
  static Result<std::unique_ptr<BatchExecutor>> open(Engine& engine);

  // Each request with is_read(); results in order.
  std::vector<StorageResult> execute_reads(std::vector<StorageRequest> requests);

  // Any requests; results in order, after the one write is durable (sync) or written. When the write
  // fails, every result of the batch carries its status.
  std::vector<StorageResult> execute_writes(std::vector<StorageRequest> requests, bool sync);

 private:
  explicit BatchExecutor(Engine& engine) : engine_(engine) {}

  Engine& engine_;
  std::mutex usage_mutex_;
  std::vector<PartitionUsage> usage_;
};

}  // namespace torc::storage
