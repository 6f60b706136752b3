#include "storage/batch_executor.h"

#include <doctest/doctest.h>

#include "storage/key_codec.h"
#include "storage/record.h"
#include "tests/storage/faulty_engine.h"

namespace torc::storage {
namespace {

constexpr NodeId kNode{1};

std::string value_record(uint64_t hlc, std::string_view value) {
  return encode({.version = {hlc, kNode}, .value = value});
}
std::string tombstone(uint64_t hlc) {
  return encode({.version = {hlc, kNode}, .tombstone = true});
}

StorageRequest merge(std::string key, std::string record, uint64_t now_hlc = 0) {
  return {.tag = 0, .op = MergeRecord{1, std::move(key), std::move(record), now_hlc}};
}
StorageRequest read(std::string key, uint32_t partition = 1) {
  return {.tag = 0, .op = ReadRecord{partition, std::move(key)}};
}
StorageRequest write_meta(std::string name, std::string value) {
  return {.tag = 0, .op = WriteMeta{{{std::move(name), std::move(value)}}}};
}
StorageRequest read_meta(std::vector<std::string> names) {
  return {.tag = 0, .op = ReadMeta{std::move(names)}};
}
StorageRequest read_usage() {
  return {.tag = 0, .op = ReadUsage{}};
}

template <typename T>
T get(const StorageResult& result) {
  REQUIRE(result.status.ok());
  return std::get<T>(result.value);
}
std::string record_in(const StorageResult& result) {
  return get<ReadRecordResult>(result).record;
}

template <typename... R>
std::vector<StorageRequest> batch(R... requests) {
  std::vector<StorageRequest> all;
  (all.push_back(std::move(requests)), ...);
  for (size_t i = 0; i < all.size(); ++i) all[i].tag = 100 + i;
  return all;
}

struct Fixture {
  FaultyEngine engine;
  std::unique_ptr<BatchExecutor> executor = BatchExecutor::open(engine).value();

  std::vector<StorageResult> run(std::vector<StorageRequest> requests, bool sync = true) {
    return executor->execute_writes(std::move(requests), sync);
  }
  std::string stored(const std::string& key) {
    return record_in(executor->execute_reads(batch(read(key)))[0]);
  }
  PartitionUsage usage() {
    const auto results = executor->execute_reads(batch(read_usage()));
    const auto partitions = get<ReadUsageResult>(results[0]).partitions;
    return partitions.size() > 1 ? partitions[1] : PartitionUsage{};
  }
};

TEST_CASE_FIXTURE(Fixture, "batch executor: a batch costs one read and one synced write") {
  const auto results = run(batch(merge("a", value_record(1, "x")), merge("b", value_record(2, "y")),
                                 merge("a", value_record(3, "z")), write_meta("m", "1"), read("a"),
                                 read_meta({"m"})));
  CHECK(engine.multi_gets == 1);
  CHECK(engine.writes == 1);
  CHECK(engine.synced_writes == 1);
  REQUIRE(results.size() == 6);
  for (size_t i = 0; i < results.size(); ++i) CHECK(results[i].tag == 100 + i);
  engine.crash();
  CHECK(stored("a") == value_record(3, "z"));
  CHECK(stored("b") == value_record(2, "y"));
}

TEST_CASE_FIXTURE(Fixture, "batch executor: later requests of a batch see earlier ones") {
  const auto results =
      run(batch(read("a"), merge("a", value_record(2, "x")), read("a"), merge("a", tombstone(3)),
                merge("a", value_record(1, "old")), read("a"), write_meta("m", "1"),
                read_meta({"n", "m"}), write_meta("m", "2"), read_meta({"m"})));
  CHECK(record_in(results[0]).empty());
  CHECK_FALSE(get<MergeRecordResult>(results[1]).existed);
  CHECK(record_in(results[2]) == value_record(2, "x"));
  CHECK(get<MergeRecordResult>(results[3]).existed);
  CHECK(get<MergeRecordResult>(results[3]).stored == Version{3, kNode});
  CHECK_FALSE(get<MergeRecordResult>(results[4]).existed);
  CHECK(get<MergeRecordResult>(results[4]).stored == Version{3, kNode});  // it was stale
  CHECK(record_in(results[5]) == tombstone(3));
  CHECK(get<ReadMetaResult>(results[7]).values ==
        std::vector<std::optional<std::string>>{std::nullopt, "1"});
  CHECK(get<ReadMetaResult>(results[9]).values == std::vector<std::optional<std::string>>{"2"});
}

TEST_CASE_FIXTURE(Fixture, "batch executor: merges that change nothing write nothing") {
  run(batch(merge("a", value_record(2, "x"))));
  const auto results =
      run(batch(merge("a", value_record(2, "x")), merge("a", value_record(1, "old"))));
  CHECK(engine.writes == 1);
  CHECK(get<MergeRecordResult>(results[0]).stored == Version{2, kNode});
  CHECK(get<MergeRecordResult>(results[1]).existed);
  CHECK(run({}).empty());
}

TEST_CASE_FIXTURE(Fixture, "batch executor: a value that has expired did not exist") {
  const Version version{2, kNode};
  run(batch(merge("a", encode({.version = version,
                               .value = "x",
                               .expiry = {.version = version, .of = version, .expires_at = 10}}))));
  CHECK(get<MergeRecordResult>(run(batch(merge("a", value_record(1, "y"), 9)))[0]).existed);
  CHECK_FALSE(get<MergeRecordResult>(run(batch(merge("a", value_record(1, "y"), 10)))[0]).existed);
}

TEST_CASE_FIXTURE(Fixture, "batch executor: an expiry joins the value it finds") {
  const Version version{2, kNode};
  const Expiry expiry{.version = {3, kNode}, .of = version, .expires_at = 10};
  run(batch(merge("a", value_record(2, "x"))));
  const auto results = run(batch(merge("a", encode({.expiry = expiry}))));
  CHECK(get<MergeRecordResult>(results[0]).stored == version);
  CHECK(stored("a") == encode({.version = version, .value = "x", .expiry = expiry}));
}

TEST_CASE_FIXTURE(Fixture,
                  "batch executor: a failed write fails every result and counts for nothing") {
  run(batch(merge("a", value_record(1, "x"))));
  const PartitionUsage before = usage();
  engine.write_status = Status(StatusCode::kDiskFull, "no space");
  const auto results = run(batch(merge("a", value_record(2, "longer")), read("a"),
                                 write_meta("m", "1"), merge("b", "not a record")));
  CHECK(results[0].status.code() == StatusCode::kDiskFull);
  CHECK(results[1].status.code() == StatusCode::kDiskFull);  // it saw what was never written
  CHECK(results[2].status.code() == StatusCode::kDiskFull);
  CHECK(results[3].status.code() == StatusCode::kInvalidArgument);
  engine.write_status = {};
  CHECK(stored("a") == value_record(1, "x"));
  CHECK(usage().bytes == before.bytes);
  CHECK(usage().keys == before.keys);
}

TEST_CASE_FIXTURE(Fixture,
                  "batch executor: a key that cannot be read fails its own requests only") {
  engine.unreadable = {data_key(1, "bad"), meta_key("bad")};
  const auto results =
      run(batch(merge("bad", value_record(1, "x")), merge("good", value_record(1, "x")),
                read("bad"), read_meta({"bad", "m"}), read_meta({"m"})));
  CHECK(results[0].status.code() == StatusCode::kCorruption);
  CHECK(results[1].status.ok());
  CHECK(results[2].status.code() == StatusCode::kCorruption);
  CHECK(results[3].status.code() == StatusCode::kCorruption);
  CHECK(results[4].status.ok());
  CHECK(stored("good") == value_record(1, "x"));
}

TEST_CASE_FIXTURE(Fixture, "batch executor: a stored record that does not parse is corruption") {
  const std::vector<Mutation> damage{{data_key(1, "a"), "\x7f"}, {data_key(1, "b"), ""}};
  REQUIRE(engine.write(damage, true).ok());
  for (const char* key : {"a", "b"}) {
    const auto results = run(batch(read(key), merge(key, value_record(1, "x"))));
    CHECK(results[0].status.code() == StatusCode::kCorruption);
    CHECK(results[1].status.code() == StatusCode::kCorruption);
  }
  CHECK(BatchExecutor::open(engine));  // one bad record does not keep the others from being served
}

TEST_CASE_FIXTURE(Fixture,
                  "batch executor: requests that make no sense are refused by themselves") {
  StorageRequest nowhere{.tag = 0, .op = MergeRecord{kPartitionsMax, "a", value_record(1, "x"), 0}};
  const auto results = run(batch(std::move(nowhere), read("a", ~0u), merge("a", ""),
                                 merge("a", "\x7f"), merge("a", value_record(1, "x"))));
  for (int i = 0; i < 4; ++i) CHECK(results[i].status.code() == StatusCode::kInvalidArgument);
  CHECK(results[4].status.ok());
}

TEST_CASE_FIXTURE(Fixture,
                  "batch executor: the daemon's own state is synced even when records are not") {
  run(batch(merge("a", value_record(1, "x"))), false);
  CHECK(engine.unsynced_batches() == 1);
  run(batch(write_meta("m", "1"), merge("b", value_record(1, "x"))), false);
  CHECK(engine.unsynced_batches() == 0);
  CHECK(executor->sync().ok());
  CHECK(engine.syncs == 0);  // nothing was left to sync
}

TEST_CASE_FIXTURE(Fixture, "batch executor: sync makes durable what was written without it") {
  run(batch(merge("a", value_record(1, "x"))), false);
  CHECK(executor->sync().ok());
  CHECK(executor->sync().ok());
  CHECK(engine.syncs == 1);
  engine.crash();
  CHECK(stored("a") == value_record(1, "x"));
}

TEST_CASE_FIXTURE(Fixture, "batch executor: usage counts values as keys and everything in bytes") {
  CHECK(usage().keys == 0);
  run(batch(merge("a", value_record(1, "x")), merge("b", value_record(1, "x")), read_usage()));
  CHECK(usage().keys == 2);
  CHECK(usage().bytes == 2 * (1 + value_record(1, "x").size()));
  run(batch(merge("a", value_record(2, "longer")), merge("a", tombstone(3))));
  CHECK(usage().keys == 1);
  CHECK(usage().bytes == 2 + value_record(1, "x").size() + tombstone(3).size());

  const auto in_batch = run(batch(merge("a", value_record(4, "y")), read_usage()));
  CHECK(get<ReadUsageResult>(in_batch[1]).partitions.at(1).keys == 2);

  const PartitionUsage counted = usage();
  executor = BatchExecutor::open(engine).value();
  CHECK(usage().keys == counted.keys);
  CHECK(usage().bytes == counted.bytes);
}

TEST_CASE("batch executor: a stored key that is malformed keeps the executor from opening") {
  MemoryEngine engine;
  const std::vector<Mutation> damage{{"d\x01", "x"}};
  REQUIRE(engine.write(damage, true).ok());
  const auto executor = BatchExecutor::open(engine);
  REQUIRE_FALSE(executor);
  CHECK(executor.error().code() == StatusCode::kCorruption);
}

}  // namespace
}  // namespace torc::storage
