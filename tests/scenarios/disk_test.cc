// The simulated disk: what a power-off keeps and what it takes.
#include "tests/sim/disk.h"

#include <doctest/doctest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "storage/record.h"
#include "tests/sim/crash_engine.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/random.h"

namespace torc::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("crash engine: what was written without a sync is taken back, in any order of writes") {
  CrashEngine engine;
  const auto write = [&](std::string key, std::optional<std::string> value, bool sync) {
    const storage::Mutation mutation{std::move(key), std::move(value)};
    CHECK(engine.write(std::span(&mutation, 1), sync).ok());
  };
  const auto dump = [&] {
    std::string all;
    CHECK(engine
              .scan("", "",
                    [&](std::string_view key, std::string_view value) {
                      all += std::string(key) + "=" + std::string(value) + " ";
                      return true;
                    })
              .ok());
    return all;
  };
  write("a", "1", true);
  write("b", "1", true);
  write("a", "2", false);
  write("a", "3", false);
  write("b", std::nullopt, false);
  write("c", "1", false);
  CHECK(dump() == "a=3 c=1 ");
  SUBCASE("lost") {
    engine.lose_unsynced();
    CHECK(dump() == "a=1 b=1 ");
  }
  SUBCASE("synced, so kept") {
    CHECK(engine.sync().ok());
    engine.lose_unsynced();
    CHECK(dump() == "a=3 c=1 ");
  }
  SUBCASE("a synced write makes the earlier ones durable too") {
    write("d", "1", true);
    engine.lose_unsynced();
    CHECK(dump() == "a=3 c=1 d=1 ");
  }
  SUBCASE("a range deleted without a sync comes back") {
    CHECK(engine.sync().ok());
    CHECK(engine.delete_range("a", "c", false).ok());
    CHECK(dump() == "c=1 ");
    engine.lose_unsynced();
    CHECK(dump() == "a=3 c=1 ");
  }
}

storage::StorageRequest write_meta(uint64_t tag, std::string value) {
  return {tag, storage::WriteMeta{{{"name", std::move(value)}}}};
}
storage::StorageRequest read_meta(uint64_t tag) {
  return {tag, storage::ReadMeta{{"name"}}};
}

struct DiskFixture {
  explicit DiskFixture(uint64_t seed, DiskConfig config = {})
      : disk(queue, Random(seed), config, [this](std::vector<storage::StorageResult> results) {
          for (storage::StorageResult& result : results) done.push_back(std::move(result));
        }) {
    disk.power_on();
  }
  // The stored value, read in a fresh life.
  std::optional<std::string> survivor() {
    disk.power_on();
    done.clear();
    disk.submit(read_meta(99));
    queue.run_until(queue.now() + seconds(1));
    REQUIRE(done.size() == 1);
    return std::get<storage::ReadMetaResult>(done[0].value).values[0];
  }

  EventQueue queue;
  std::vector<storage::StorageResult> done;
  Disk disk;
};

TEST_CASE("disk: writes are answered in order, only after their sync, and then survive") {
  DiskFixture fixture(1);
  fixture.disk.submit(write_meta(1, "one"));
  fixture.disk.submit(write_meta(2, "two"));
  fixture.disk.submit(write_meta(3, "three"));
  CHECK(fixture.done.empty());
  fixture.queue.run_until(Instant{seconds(1)});
  REQUIRE(fixture.done.size() == 3);
  for (uint64_t i = 0; i < 3; ++i) CHECK(fixture.done[i].tag == i + 1);
  fixture.disk.power_off();
  CHECK(fixture.survivor() == "three");
}

TEST_CASE("disk: what waits while a batch is under way becomes one batch") {
  DiskFixture fixture(1);
  for (uint64_t i = 0; i < 20; ++i) fixture.disk.submit(write_meta(i, "x"));
  fixture.queue.run_until(Instant{seconds(1)});
  CHECK(fixture.done.size() == 20);
  CHECK(fixture.disk.figures().batches == 2);
}

TEST_CASE("disk: a power-off keeps or loses the batch under way, and loses what waits behind it") {
  std::set<std::optional<std::string>> seen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    DiskFixture fixture(seed);
    fixture.disk.submit(write_meta(1, "under way"));
    fixture.disk.submit(write_meta(2, "waiting"));
    fixture.disk.power_off();
    fixture.queue.run_until(Instant{seconds(1)});
    CHECK(fixture.done.empty());
    seen.insert(fixture.survivor());
  }
  CHECK(seen == std::set<std::optional<std::string>>{std::nullopt, "under way"});
}

TEST_CASE("disk: the planted bug answers a write that a power-off then loses") {
  storage::RecordView record;
  record.version = {1, NodeId{1}};
  record.value = "promised";
  for (const bool early : {false, true}) {
    DiskConfig config;
    config.acknowledges_early = early;
    DiskFixture fixture(1, config);
    fixture.disk.submit({1, storage::MergeRecord{0, "key", storage::encode(record), 1}});
    fixture.queue.run_until(Instant{milliseconds(100)});
    CHECK(fixture.done.size() == 1);
    fixture.disk.power_off();

    fixture.disk.power_on();
    fixture.done.clear();
    fixture.disk.submit({2, storage::ReadRecord{0, "key"}});
    fixture.queue.run_until(Instant{seconds(1)});
    REQUIRE(fixture.done.size() == 1);
    const auto& read = std::get<storage::ReadRecordResult>(fixture.done[0].value);
    CHECK(read.record == (early ? "" : storage::encode(record)));
  }
}

}  // namespace
}  // namespace torc::sim
