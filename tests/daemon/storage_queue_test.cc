#include "daemon/shell/storage_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "storage/memory_engine.h"
#include "storage/record.h"

namespace torc::shell {
namespace {

using storage::BatchExecutor;
using storage::MergeRecord;
using storage::MergeRecordResult;
using storage::ReadRecord;
using storage::ReadRecordResult;
using storage::StorageRequest;
using storage::StorageResult;
using storage::WriteMeta;

std::string record(uint64_t hlc, std::string_view value = "value") {
  return storage::encode({.version = {hlc, NodeId{1}}, .value = value});
}
StorageRequest merge(uint64_t tag, std::string key, uint64_t hlc) {
  return {tag, MergeRecord{0, std::move(key), record(hlc), 0}};
}
StorageRequest read(uint64_t tag, std::string key) {
  return {tag, ReadRecord{0, std::move(key)}};
}

// A disk that stands still while its gate is shut.
class GatedEngine : public storage::MemoryEngine {
 public:
  Status write(std::span<const storage::Mutation> mutations, bool sync) override {
    pass();
    return MemoryEngine::write(mutations, sync);
  }
  std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) override {
    pass();
    return MemoryEngine::multi_get(keys);
  }
  Status sync() override {
    if (failing_syncs-- > 0) return {StatusCode::kIoError, "sync failed"};
    return MemoryEngine::sync();
  }

  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void wait_until_somebody_is_stuck() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stuck_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  std::atomic<int> failing_syncs = 0;

 private:
  void pass() {
    std::unique_lock lock(mutex_);
    ++stuck_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --stuck_;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int stuck_ = 0;
};

// Stands for the event loop: sleeps until it is woken, then takes what has completed.
class Loop {
 public:
  void wake() {
    const std::lock_guard lock(mutex_);
    ++wakes_;
    changed_.notify_one();
  }
  std::vector<StorageResult> collect(StorageQueue& queue, size_t count) {
    std::vector<StorageResult> all;
    while (all.size() < count) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return wakes_ > seen_; });
        seen_ = wakes_;
      }
      std::vector<StorageResult> some;
      queue.take_completed(some);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  int wakes() {
    const std::lock_guard lock(mutex_);
    return wakes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int wakes_ = 0;
  int seen_ = 0;
};

struct Fixture {
  GatedEngine engine;
  std::unique_ptr<BatchExecutor> executor = BatchExecutor::open(engine).value();
  Loop loop;

  std::unique_ptr<StorageQueue> queue(bool sync = true, StorageQueueLimits limits = {}) {
    return std::make_unique<StorageQueue>(*executor, sync, [this] { loop.wake(); }, limits);
  }
};

TEST_CASE_FIXTURE(Fixture,
                  "storage queue: answers every request once, writes in order and durable") {
  const auto q = queue();
  for (uint64_t tag = 1; tag <= 100; ++tag) q->submit(merge(tag, "key", tag));
  const auto results = loop.collect(*q, 100);
  REQUIRE(results.size() == 100);
  for (uint64_t tag = 1; tag <= 100; ++tag) {
    const StorageResult& result = results[tag - 1];
    CHECK(result.tag == tag);
    CHECK(std::get<MergeRecordResult>(result.value).stored.hlc == tag);
  }
  engine.crash();
  q->submit(read(101, "key"));
  const auto answer = loop.collect(*q, 1);
  CHECK(std::get<ReadRecordResult>(answer.at(0).value).record == record(100));
}

TEST_CASE_FIXTURE(Fixture, "storage queue: what waits while the disk is busy becomes one batch") {
  const auto q = queue();
  engine.shut();
  q->submit(merge(0, "key", 1));
  engine.wait_until_somebody_is_stuck();
  for (uint64_t tag = 1; tag <= 50; ++tag) q->submit(merge(tag, "key" + std::to_string(tag), 1));
  CHECK(q->counters().writes.queued == 51);
  engine.open();
  CHECK(loop.collect(*q, 51).size() == 51);
  const auto writes = q->counters().writes;
  CHECK(writes.batches == 2);
  CHECK(writes.largest_batch == 50);
  CHECK(writes.requests == 51);
  CHECK(writes.queued == 0);
}

TEST_CASE_FIXTURE(Fixture, "storage queue: many completions that nobody has taken wake once") {
  const auto q = queue();
  for (uint64_t tag = 0; tag < 20; ++tag) q->submit(merge(tag, "key", tag + 1));
  REQUIRE(q->stop().ok());
  CHECK(loop.wakes() == 1);
  std::vector<StorageResult> results;
  q->take_completed(results);
  CHECK(results.size() == 20);
}

TEST_CASE_FIXTURE(Fixture, "storage queue: a batch is bounded in requests and in bytes") {
  const std::string big(1000, 'x');
  struct Case {
    StorageQueueLimits limits;
    uint64_t batches;
    uint64_t largest_batch;
  };
  for (const Case& c : {Case{{.batch_requests_max = 10}, 1 + 3, 10},
                        Case{{.batch_bytes_max = 2000}, 1 + 13, 2}, Case{{}, 1 + 1, 25}}) {
    const auto q = queue(true, c.limits);
    engine.shut();
    q->submit(merge(0, "key", 1));
    engine.wait_until_somebody_is_stuck();
    std::vector<StorageRequest> many;
    for (uint64_t tag = 1; tag <= 25; ++tag) {
      many.push_back({tag, MergeRecord{0, "key", record(tag, big), 0}});
    }
    q->submit(many);
    CHECK(many.empty());
    engine.open();
    const auto results = loop.collect(*q, 26);
    for (uint64_t tag = 0; tag <= 25; ++tag) CHECK(results.at(tag).tag == tag);
    CHECK(q->counters().writes.batches == c.batches);
    CHECK(q->counters().writes.largest_batch == c.largest_batch);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "storage queue: a full lane refuses records, but never the daemon's state") {
  for (const StorageQueueLimits limits :
       {StorageQueueLimits{.queue_requests_max = 8}, StorageQueueLimits{.queue_bytes_max = 8000}}) {
    const auto q = queue(true, limits);
    engine.shut();
    for (uint64_t tag = 0; tag < 8; ++tag) {
      q->submit({tag, MergeRecord{0, "key", record(1, std::string(1000, 'x')), 0}});
    }
    q->submit(merge(100, "key", 2));
    const auto refused = loop.collect(*q, 1);
    CHECK(refused.at(0).tag == 100);
    CHECK(refused.at(0).status.code() == StatusCode::kBusy);
    CHECK(q->counters().writes.refused == 1);
    q->submit({101, WriteMeta{{{"name", "value"}}}});
    q->submit(read(102, "key"));  // the other lane has room
    engine.open();
    for (const StorageResult& result : loop.collect(*q, 10)) CHECK(result.status.ok());
    q->submit(merge(103, "key", 3));
    CHECK(loop.collect(*q, 1).at(0).status.ok());
  }
}

TEST_CASE_FIXTURE(Fixture, "storage queue: stopping runs what was submitted and makes it durable") {
  for (const bool sync : {true, false}) {
    const auto q = queue(sync);
    std::vector<StorageRequest> requests;
    for (uint64_t tag = 0; tag < 3000; ++tag) {
      requests.push_back(merge(tag, "key" + std::to_string(tag), 1));
      requests.push_back(read(3000 + tag, "key"));
    }
    q->submit(requests);
    CHECK(q->stop().ok());
    std::vector<StorageResult> results;
    q->take_completed(results);
    CHECK(results.size() == 6000);
    CHECK(engine.unsynced_batches() == 0);
    CHECK(q->stop().ok());
  }
}

TEST_CASE_FIXTURE(Fixture, "storage queue: with interval durability the sync follows the answer") {
  const auto q = queue(false, {.sync_interval_ms = 5});
  engine.failing_syncs = 1;  // and is tried again
  q->submit(merge(0, "key", 1));
  CHECK(loop.collect(*q, 1).at(0).status.ok());
  while (engine.unsynced_batches() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(q->counters().failed_syncs == 1);
}

TEST_CASE_FIXTURE(Fixture, "storage queue: a last sync that fails is told by stop") {
  const auto q = queue(false);
  engine.failing_syncs = 1000;
  q->submit(merge(0, "key", 1));
  CHECK(q->stop().code() == StatusCode::kIoError);
}

TEST_CASE("storage queue: threads that submit and take at once lose nothing") {
  storage::MemoryEngine engine;
  const auto executor = BatchExecutor::open(engine).value();
  Loop loop;
  StorageQueue queue(*executor, false, [&] { loop.wake(); });
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kRequests = 5000;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&queue, t] {
      for (uint64_t i = 0; i < kRequests; ++i) {
        const uint64_t tag = t * kRequests + i;
        const std::string key = std::to_string(i % 10);
        queue.submit(i % 3 == 0 ? read(tag, key) : merge(tag, key, i + 1));
      }
    });
  }
  std::vector<int> answers(kThreads * kRequests);
  std::map<uint64_t, uint64_t> last_write_of_thread;
  for (const StorageResult& result : loop.collect(queue, answers.size())) {
    REQUIRE(result.status.ok());
    ++answers.at(result.tag);
    if (std::holds_alternative<MergeRecordResult>(result.value)) {
      uint64_t& last = last_write_of_thread[result.tag / kRequests];
      CHECK(result.tag >= last);
      last = result.tag;
    }
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::count_if(answers, [](int n) { return n == 1; }) == std::ssize(answers));
  CHECK(queue.stop().ok());
  CHECK(queue.counters().writes.queued == 0);
}

}  // namespace
}  // namespace torc::shell
