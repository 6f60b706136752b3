// StorageQueue: carries storage requests from the event loop to two threads and the results back, a
// lane for reads and a lane for everything else. Each lane takes all that waits as one batch, so
// the longer a sync takes, the more writes share the next one; the lane of writes keeps their
// order, and every request is answered exactly once. submit, take_completed and stop are for the
// loop's thread (any one thread).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "storage/batch_executor.h"
#include "storage/request.h"

namespace torc::shell {

struct StorageQueueLimits {
  // A batch ends with the request that reaches one of these.
  size_t batch_requests_max = 1024;
  size_t batch_bytes_max = 16 << 20;
  // With this much in a lane, further requests are answered kBusy; only the daemon's own state
  // (WriteMeta) is always taken.
  size_t queue_requests_max = 1 << 20;
  size_t queue_bytes_max = 256 << 20;
  // With interval durability: how long an answered write may wait to be made durable.
  int64_t sync_interval_ms = 1000;
};

class StorageQueue {
 public:
  struct LaneCounters {
    uint64_t queued = 0;    // requests that wait or run now
    uint64_t requests = 0;  // ever finished
    uint64_t batches = 0;
    uint64_t largest_batch = 0;
    uint64_t refused = 0;  // kBusy
  };
  struct Counters {
    LaneCounters reads;
    LaneCounters writes;
    uint64_t failed_syncs = 0;
  };

  // Starts the threads. With `sync` a write is answered when it is durable; without, when it is
  // written, and what was written is made durable every sync_interval_ms. `wake` is called from a
  // queue's thread (or from submit) when results wait that take_completed() has not been told of:
  // once, however many there are.
  StorageQueue(storage::BatchExecutor& executor, bool sync, std::function<void()> wake,
               StorageQueueLimits limits = {});
  ~StorageQueue();
  StorageQueue(const StorageQueue&) = delete;
  StorageQueue& operator=(const StorageQueue&) = delete;

  // REQUIRES: not stopped. The second form hands over many at once, in order, and leaves an empty
  // vector.
  void submit(storage::StorageRequest request);
  void submit(std::vector<storage::StorageRequest>& requests);

  // Swaps what has completed into `results`, which must be empty.
  void take_completed(std::vector<storage::StorageResult>& results);

  // Runs what was submitted, makes it durable and joins the threads; the last results can be taken
  // afterwards. Ok when everything is durable. Only the first call does anything.
  Status stop();

  Counters counters() const;

 private:
  using Clock = std::chrono::steady_clock;

  struct Lane {
    mutable std::mutex mutex;
    std::condition_variable changed;
    std::vector<storage::StorageRequest> waiting;
    size_t queued_bytes = 0;  // of requests that wait or run
    bool idle = false;        // the thread sleeps; whoever clears this must notify it
    bool stopping = false;
    LaneCounters counters;
    std::thread thread;
  };

  void run(Lane& lane);
  // Waits for requests; false when there are none and never will be.
  bool take_waiting(Lane& lane, std::vector<storage::StorageRequest>& taken);
  std::vector<storage::StorageResult> execute(Lane& lane,
                                              std::vector<storage::StorageRequest> batch);
  // The next batch: requests from `next` on, which is moved past them.
  std::vector<storage::StorageRequest> cut_batch(std::vector<storage::StorageRequest>& taken,
                                                 size_t& next, size_t& bytes) const;
  // REQUIRES: next_sync_ is set.
  void sync_when_due();

  // Moves those of `requests` that belong to the lane into it.
  void enqueue(Lane& lane, std::span<storage::StorageRequest> requests);
  void complete(std::vector<storage::StorageResult> results);

  storage::BatchExecutor& executor_;
  const bool sync_;
  const std::function<void()> wake_;
  const StorageQueueLimits limits_;
  Lane reads_;
  Lane writes_;
  std::mutex completed_mutex_;
  std::vector<storage::StorageResult> completed_;
  std::optional<Clock::time_point>
      next_sync_;  // of the writing thread; set while something is unsynced
  std::atomic<uint64_t> failed_syncs_ = 0;
  bool stopped_ = false;
};

}  // namespace torc::shell
