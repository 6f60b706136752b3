// Random batches, failures and crashes, held against a map from key to record.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "storage/batch_executor.h"
#include "storage/reconcile.h"
#include "tests/storage/any_record.h"
#include "tests/storage/faulty_engine.h"

namespace torc::storage {
namespace {

using Key = std::pair<uint32_t, std::string>;

struct Model {
  std::map<Key, std::string> records;
  std::map<std::string, std::string> meta;
  bool operator==(const Model&) const = default;

  std::vector<PartitionUsage> usage() const {
    std::vector<PartitionUsage> partitions;
    for (const auto& [key, record] : records) {
      if (key.first >= partitions.size()) partitions.resize(key.first + 1);
      const RecordView view = RecordView::parse(record).value();
      partitions[key.first].keys += view.version && !view.tombstone;
      partitions[key.first].bytes += key.second.size() + record.size();
    }
    return partitions;
  }
};

struct Expected {
  bool operator()(const ReadRecord& read, const ReadRecordResult& result) const {
    const auto it = model.records.find({read.partition, read.key});
    return result.record == (it == model.records.end() ? "" : it->second);
  }
  bool operator()(const MergeRecord& merge, const MergeRecordResult& result) const {
    std::string& stored = model.records[{merge.partition, merge.key}];
    const std::string before = stored;
    const RecordView old = RecordView::parse(before).value();
    const RecordView joined = join(old, RecordView::parse(merge.record).value());
    stored = encode(joined);
    return result.stored == joined.version && result.existed == old.is_live(merge.now_hlc);
  }
  bool operator()(const ReadMeta& read, const ReadMetaResult& result) const {
    std::vector<std::optional<std::string>> values;
    for (const std::string& name : read.names) {
      const auto it = model.meta.find(name);
      values.push_back(it == model.meta.end() ? std::nullopt : std::optional(it->second));
    }
    return result.values == values;
  }
  bool operator()(const WriteMeta& write, const WriteMetaResult&) const {
    for (const auto& [name, value] : write.values) model.meta[name] = value;
    return true;
  }
  bool operator()(const ReadUsage&, const ReadUsageResult&) const { return true; }  // below
  bool operator()(const auto&, const auto&) const { return false; }

  Model& model;
};

std::string any_key() {
  return std::string(1, *rc::gen::inRange('a', 'e'));
}

StorageRequest any_request(uint64_t tag, bool reads_only) {
  const auto partition = *rc::gen::inRange<uint32_t>(0, 3);
  switch (*rc::gen::inRange(0, reads_only ? 3 : 8)) {
    case 0:
      return {tag, ReadRecord{partition, any_key()}};
    case 1:
      return {tag, ReadMeta{{any_key(), any_key()}}};
    case 2:
      return {tag, ReadUsage{}};
    case 3:
      return {tag, WriteMeta{{{any_key(), std::to_string(tag)}, {any_key(), "x"}}}};
    default: {
      const std::string record = encode(any_record());
      if (record.empty()) return {tag, ReadRecord{partition, any_key()}};
      return {tag, MergeRecord{partition, any_key(), record, *rc::gen::inRange<uint64_t>(0, 5)}};
    }
  }
}

void check_usage(const std::vector<PartitionUsage>& found, const Model& model) {
  const auto expected = model.usage();
  for (size_t i = 0; i < std::max(found.size(), expected.size()); ++i) {
    const PartitionUsage a = i < found.size() ? found[i] : PartitionUsage{};
    const PartitionUsage b = i < expected.size() ? expected[i] : PartitionUsage{};
    RC_ASSERT(a.keys == b.keys);
    RC_ASSERT(a.bytes == b.bytes);
  }
}

TEST_CASE(
    "batch executor: random batches, failures and crashes leave what a simple map would hold") {
  CHECK(rc::check("model", [] {
    FaultyEngine engine;
    auto executor = BatchExecutor::open(engine).value();
    Model model;
    Model durable;
    for (int steps = *rc::gen::inRange(1, 10); steps > 0; --steps) {
      const bool reads_only = *rc::gen::inRange(0, 3) == 0;
      const bool sync = *rc::gen::inRange(0, 2) == 0;
      const bool fails = *rc::gen::inRange(0, 4) == 0;
      std::vector<StorageRequest> requests;
      for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
        requests.push_back(any_request(requests.size(), reads_only));
      }
      engine.write_status = fails ? Status(StatusCode::kIoError, "failed") : Status();
      const int writes_before = engine.writes;
      const auto results =
          reads_only ? executor->execute_reads(requests) : executor->execute_writes(requests, sync);
      RC_ASSERT(engine.writes - writes_before <= (reads_only ? 0 : 1));
      if (fails && engine.writes > writes_before) {
        for (const StorageResult& result : results) RC_ASSERT(!result.status.ok());
      } else {
        for (size_t i = 0; i < requests.size(); ++i) {
          RC_ASSERT(results[i].status.ok());
          RC_ASSERT(results[i].tag == i);
          RC_ASSERT(std::visit(Expected{model}, requests[i].op, results[i].value));
        }
        for (const StorageResult& result : results) {
          const auto* usage = std::get_if<ReadUsageResult>(&result.value);
          if (usage != nullptr) check_usage(usage->partitions, model);
        }
      }
      if (*rc::gen::inRange(0, 4) == 0) RC_ASSERT(executor->sync().ok());
      if (engine.unsynced_batches() == 0) durable = model;
      if (*rc::gen::inRange(0, 5) == 0) {
        engine.crash();
        model = durable;
        executor = BatchExecutor::open(engine).value();
      }
    }
    const auto usage = executor->execute_reads({{0, ReadUsage{}}});
    check_usage(std::get<ReadUsageResult>(usage[0].value).partitions, model);
  }));
}

}  // namespace
}  // namespace torc::storage
