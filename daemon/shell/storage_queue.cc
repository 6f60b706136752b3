#include "daemon/shell/storage_queue.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace torc::shell {
namespace {

using storage::StorageRequest;
using storage::StorageResult;

size_t bytes_of(const StorageRequest& request) {
  size_t bytes = sizeof(StorageRequest);
  if (const auto* read = std::get_if<storage::ReadRecord>(&request.op)) {
    bytes += read->key.size();
  } else if (const auto* merge = std::get_if<storage::MergeRecord>(&request.op)) {
    bytes += merge->key.size() + merge->record.size();
  } else if (const auto* write = std::get_if<storage::WriteMeta>(&request.op)) {
    for (const auto& [name, value] : write->values) bytes += name.size() + value.size();
  }
  return bytes;
}

}  // namespace

StorageQueue::StorageQueue(storage::BatchExecutor& executor, bool sync, std::function<void()> wake,
                           StorageQueueLimits limits)
    : executor_(executor), sync_(sync), wake_(std::move(wake)), limits_(limits) {
  reads_.thread = std::thread([this] { run(reads_); });
  writes_.thread = std::thread([this] { run(writes_); });
}

StorageQueue::~StorageQueue() {
  static_cast<void>(stop());
}

void StorageQueue::submit(StorageRequest request) {
  enqueue(storage::is_read(request) ? reads_ : writes_, std::span(&request, 1));
}

void StorageQueue::submit(std::vector<StorageRequest>& requests) {
  const auto reads = std::ranges::count_if(requests, storage::is_read);
  if (reads > 0) enqueue(reads_, requests);
  if (std::cmp_less(reads, requests.size())) enqueue(writes_, requests);
  requests.clear();
}

void StorageQueue::enqueue(Lane& lane, std::span<StorageRequest> requests) {
  assert(!stopped_);
  std::vector<StorageResult> refused;
  bool notify = false;
  {
    const std::lock_guard lock(lane.mutex);
    for (StorageRequest& request : requests) {
      // A request that was moved into the other lane still says what kind it was.
      if (storage::is_read(request) != (&lane == &reads_)) continue;
      const bool full = lane.queued_bytes >= limits_.queue_bytes_max ||
                        lane.counters.queued >= limits_.queue_requests_max;
      if (full && !std::holds_alternative<storage::WriteMeta>(request.op)) {
        ++lane.counters.refused;
        refused.push_back({.tag = request.tag,
                           .status = {StatusCode::kBusy, "the storage queue is full"},
                           .value = {}});
        continue;
      }
      lane.queued_bytes += bytes_of(request);
      ++lane.counters.queued;
      lane.waiting.push_back(std::move(request));
    }
    // A lane that is busy looks again by itself.
    if (!lane.waiting.empty()) notify = std::exchange(lane.idle, false);
  }
  if (notify) lane.changed.notify_one();
  complete(std::move(refused));
}

void StorageQueue::run(Lane& lane) {
  std::vector<StorageRequest> taken;
  size_t next = 0;
  for (;;) {
    if (next == taken.size()) {
      if (!take_waiting(lane, taken)) return;
      next = 0;
    }
    size_t bytes = 0;
    std::vector<StorageRequest> batch = cut_batch(taken, next, bytes);
    const size_t size = batch.size();
    std::vector<StorageResult> results = execute(lane, std::move(batch));
    {
      const std::lock_guard lock(lane.mutex);
      lane.queued_bytes -= bytes;
      lane.counters.queued -= size;
      lane.counters.requests += size;
      lane.counters.batches += 1;
      lane.counters.largest_batch = std::max<uint64_t>(lane.counters.largest_batch, size);
    }
    complete(std::move(results));
  }
}

std::vector<StorageRequest> StorageQueue::cut_batch(std::vector<StorageRequest>& taken,
                                                    size_t& next, size_t& bytes) const {
  size_t end = next;
  bytes = 0;
  while (end < taken.size() && end - next < limits_.batch_requests_max &&
         bytes < limits_.batch_bytes_max) {
    bytes += bytes_of(taken[end++]);
  }
  const size_t begin = std::exchange(next, end);
  if (begin == 0 && end == taken.size()) {
    next = 0;
    return std::exchange(taken, {});
  }
  return {std::move_iterator(taken.begin() + static_cast<std::ptrdiff_t>(begin)),
          std::move_iterator(taken.begin() + static_cast<std::ptrdiff_t>(end))};
}

bool StorageQueue::take_waiting(Lane& lane, std::vector<StorageRequest>& taken) {
  taken.clear();
  std::unique_lock lock(lane.mutex);
  while (lane.waiting.empty()) {
    if (lane.stopping) return false;
    lane.idle = true;
    if (&lane == &writes_ && next_sync_) {
      if (lane.changed.wait_until(lock, *next_sync_) == std::cv_status::timeout) {
        lane.idle = false;
        lock.unlock();
        sync_when_due();
        lock.lock();
      }
    } else {
      lane.changed.wait(lock);
    }
  }
  lane.idle = false;
  taken.swap(lane.waiting);
  return true;
}

std::vector<StorageResult> StorageQueue::execute(Lane& lane, std::vector<StorageRequest> batch) {
  if (&lane == &reads_) return executor_.execute_reads(std::move(batch));
  std::vector<StorageResult> results = executor_.execute_writes(std::move(batch), sync_);
  if (!sync_) {
    if (!next_sync_)
      next_sync_ = Clock::now() + std::chrono::milliseconds(limits_.sync_interval_ms);
    sync_when_due();
  }
  return results;
}

void StorageQueue::sync_when_due() {
  if (Clock::now() < *next_sync_) return;
  if (executor_.sync().ok()) {
    next_sync_.reset();
  } else {
    ++failed_syncs_;
    next_sync_ = Clock::now() + std::chrono::milliseconds(limits_.sync_interval_ms);
  }
}

void StorageQueue::complete(std::vector<StorageResult> results) {
  if (results.empty()) return;
  bool was_empty = false;
  {
    const std::lock_guard lock(completed_mutex_);
    was_empty = completed_.empty();
    if (was_empty) {
      completed_.swap(results);
    } else {
      std::ranges::move(results, std::back_inserter(completed_));
    }
  }
  if (was_empty) wake_();
}

void StorageQueue::take_completed(std::vector<StorageResult>& results) {
  assert(results.empty());
  const std::lock_guard lock(completed_mutex_);
  results.swap(completed_);
}

Status StorageQueue::stop() {
  if (std::exchange(stopped_, true)) return {};
  for (Lane* lane : {&reads_, &writes_}) {
    {
      const std::lock_guard lock(lane->mutex);
      lane->stopping = true;
    }
    lane->changed.notify_one();
  }
  reads_.thread.join();
  writes_.thread.join();
  return executor_.sync();
}

StorageQueue::Counters StorageQueue::counters() const {
  Counters counters;
  {
    const std::lock_guard lock(reads_.mutex);
    counters.reads = reads_.counters;
  }
  {
    const std::lock_guard lock(writes_.mutex);
    counters.writes = writes_.counters;
  }
  counters.failed_syncs = failed_syncs_;
  return counters;
}

}  // namespace torc::shell
