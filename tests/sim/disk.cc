#include "tests/sim/disk.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace torc::sim {

void Disk::power_on() {
  assert(!executor_);
  auto opened = storage::BatchExecutor::open(engine_);
  assert(opened.has_value());
  executor_ = std::move(*opened);
}

void Disk::power_off() {
  if (!executor_) return;
  if (config_.acknowledges_early) {
    engine_.lose_unsynced();
  } else if (write_under_way_) {
    if (random_.coin()) {
      (void)executor_->execute_writes(std::move(writing_), true);
    } else {
      ++figures_.batches_lost;
    }
  }
  executor_.reset();
  ++life_;
  waiting_reads_.clear();
  waiting_writes_.clear();
  writing_.clear();
  write_under_way_ = false;
  reads_under_way_ = 0;
}

void Disk::submit(storage::StorageRequest request) {
  assert(executor_);
  if (storage::is_read(request)) {
    waiting_reads_.push_back(std::move(request));
    begin_reads();
  } else {
    waiting_writes_.push_back(std::move(request));
    begin_writes();
  }
}

Duration Disk::latency(Duration low, Duration high) {
  Duration result = random_.between(low, high);
  if (random_.chance(10'000)) result *= 20;
  return std::min(result * config_.slowdown, kLatencyMax);
}

void Disk::begin_reads() {
  if (waiting_reads_.empty() || reads_under_way_ == kReadLanes) return;
  ++reads_under_way_;
  queue_.after(latency(config_.read_min, config_.read_max),
               [this, life = life_, batch = std::exchange(waiting_reads_, {})]() mutable {
                 if (life != life_) return;
                 --reads_under_way_;
                 figures_.reads += batch.size();
                 auto results = executor_->execute_reads(std::move(batch));
                 begin_reads();
                 sink_(std::move(results));
               });
}

void Disk::begin_writes() {
  if (waiting_writes_.empty() || write_under_way_) return;
  write_under_way_ = true;
  writing_ = std::exchange(waiting_writes_, {});
  ++figures_.batches;
  figures_.writes += writing_.size();
  queue_.after(latency(config_.sync_min, config_.sync_max), [this, life = life_] {
    if (life == life_) finish_writes();
  });
}

void Disk::finish_writes() {
  const bool sync = !config_.acknowledges_early;
  auto results = executor_->execute_writes(std::exchange(writing_, {}), sync);
  write_under_way_ = false;
  if (!sync) {
    // The bug to be found: the answer is out, the sync comes some seconds later.
    queue_.after(random_.between(std::chrono::seconds(1), std::chrono::seconds(4)),
                 [this, life = life_] {
                   if (life == life_) assert(engine_.sync().ok());
                 });
  }
  begin_writes();
  sink_(std::move(results));
}

}  // namespace torc::sim
