// Disk: one node's storage queue with virtual latency, over an engine that outlives crashes.
// Requests that write run in order, in batches of whatever waits, each batch with one sync; reads
// overtake them. A power-off loses every request not yet answered, and the batch under way is
// wholly kept or wholly lost. Simulator only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "storage/batch_executor.h"
#include "storage/request.h"
#include "tests/sim/crash_engine.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/random.h"

namespace torc::sim {

struct DiskConfig {
  Duration read_min = std::chrono::microseconds(10);
  Duration read_max = std::chrono::microseconds(300);
  Duration sync_min = std::chrono::microseconds(100);
  Duration sync_max = std::chrono::microseconds(2000);
  uint32_t slowdown = 1;  // multiplies every latency
  // A planted bug: writes are answered before they are synced. Only to see that the checker sees
  // it.
  bool acknowledges_early = false;
};

struct DiskFigures {
  uint64_t batches = 0;
  uint64_t writes = 0;
  uint64_t reads = 0;
  uint64_t batches_lost = 0;
};

class Disk {
 public:
  // Receives the results of one batch, in order.
  using Sink = std::function<void(std::vector<storage::StorageResult>)>;

  Disk(EventQueue& queue, Random random, DiskConfig config, Sink sink)
      : config_(config), queue_(queue), random_(random), sink_(std::move(sink)) {}

  void power_on();
  void power_off();
  // REQUIRES: the power is on.
  void submit(storage::StorageRequest request);

  DiskConfig& config() { return config_; }
  const DiskFigures& figures() const { return figures_; }

 private:
  static constexpr uint32_t kReadLanes = 2;
  static constexpr Duration kLatencyMax = std::chrono::seconds(5);  // of the slowest disk
  using Batch = std::vector<storage::StorageRequest>;

  Duration latency(Duration low, Duration high);
  void begin_reads();
  void begin_writes();
  void finish_writes();

  DiskConfig config_;
  EventQueue& queue_;
  Random random_;
  Sink sink_;
  DiskFigures figures_;
  CrashEngine engine_;
  std::unique_ptr<storage::BatchExecutor> executor_;  // null while the power is off
  uint64_t life_ = 0;
  Batch waiting_reads_;
  Batch waiting_writes_;
  Batch writing_;
  bool write_under_way_ = false;
  uint32_t reads_under_way_ = 0;
};

}  // namespace torc::sim
