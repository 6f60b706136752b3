#include "storage/batch.h"

#include <cassert>

#include "storage/key_codec.h"
#include "storage/reconcile.h"
#include "storage/record.h"

namespace torc::storage {
namespace {

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};

size_t keys_named_by(const StorageRequest& request) {
  return std::visit(Overloaded{[](const ReadRecord&) { return size_t{1}; },
                               [](const MergeRecord&) { return size_t{1}; },
                               [](const ReadMeta& read) { return read.names.size(); },
                               [](const WriteMeta& write) { return write.values.size(); },
                               [](const ReadUsage&) { return size_t{0}; }},
                    request.op);
}

// The record of a slot's value. On disk an empty value is damage: an absent record is not stored.
Result<RecordView> parse_stored(const std::optional<std::string>& value) {
  if (!value) return RecordView{};
  if (value->empty()) return std::unexpected(Status(StatusCode::kCorruption, "an empty record"));
  return RecordView::parse(*value);
}

Status bad_partition(uint32_t partition) {
  return {StatusCode::kInvalidArgument, "partition " + std::to_string(partition) + " cannot exist"};
}

}  // namespace

Batch::Batch(std::vector<StorageRequest> requests) : requests_(std::move(requests)) {
  size_t keys_max = 0;
  for (const StorageRequest& request : requests_) keys_max += keys_named_by(request);
  keys_.reserve(keys_max);
  slot_order_.reserve(keys_max);
  slot_of_key_.reserve(keys_max);
  slots_.reserve(keys_max);
  results_.reserve(requests_.size());

  for (const StorageRequest& request : requests_) {
    StorageResult& result =
        results_.emplace_back(StorageResult{.tag = request.tag, .status = {}, .value = {}});
    const auto add_record = [&](uint32_t partition, const std::string& key) {
      if (partition >= kPartitionsMax) {
        result.status = bad_partition(partition);
      } else {
        add_key(data_key(partition, key));
      }
    };
    std::visit(Overloaded{[&](const ReadRecord& read) { add_record(read.partition, read.key); },
                          [&](const MergeRecord& merge) { add_record(merge.partition, merge.key); },
                          [&](const ReadMeta& read) {
                            for (const auto& name : read.names) add_key(meta_key(name));
                          },
                          [&](const WriteMeta& write) {
                            for (const auto& [name, value] : write.values) add_key(meta_key(name));
                          },
                          [](const ReadUsage&) {}},
               request.op);
  }
}

void Batch::add_key(std::string key) {
  assert(keys_.size() < keys_.capacity());
  keys_.push_back(std::move(key));
  const auto [it, inserted] =
      slot_of_key_.try_emplace(keys_.back(), static_cast<uint32_t>(slots_.size()));
  if (inserted) {
    slots_.emplace_back();
  } else {
    keys_.pop_back();
  }
  ++slots_[it->second].uses_left;
  slot_order_.push_back(it->second);
}

void Batch::load(Engine& engine) {
  if (keys_.empty()) return;
  auto values = engine.multi_get(keys_);
  assert(values.size() == slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) slots_[i].value = std::move(values[i]);
}

Batch::Slot& Batch::next_slot() {
  Slot& slot = slots_[slot_order_[slots_used_++]];
  --slot.uses_left;
  return slot;
}

void Batch::run() {
  for (size_t i = 0; i < requests_.size(); ++i) {
    StorageResult& result = results_[i];
    if (!result.status.ok()) continue;
    std::visit(
        [&](auto& op) {
          auto outcome = run_one(op);
          if (outcome) {
            result.value = *std::move(outcome);
          } else {
            result.status = std::move(outcome).error();
          }
        },
        requests_[i].op);
  }
  assert(slots_used_ == slot_order_.size());
}

Result<ReadRecordResult> Batch::run_one(const ReadRecord&) {
  Slot& slot = next_slot();
  if (!slot.value) return std::unexpected(slot.value.error());
  const auto record = parse_stored(*slot.value);
  if (!record) return std::unexpected(record.error());
  if (!*slot.value) return ReadRecordResult{};
  if (slot.uses_left > 0 || slot.changed) return ReadRecordResult{**slot.value};
  return ReadRecordResult{std::move(**slot.value)};
}

Result<MergeRecordResult> Batch::run_one(MergeRecord& request) {
  Slot& slot = next_slot();
  if (!slot.value) return std::unexpected(slot.value.error());
  const auto stored = parse_stored(*slot.value);
  if (!stored) return std::unexpected(stored.error());
  const auto incoming = RecordView::parse(request.record);
  if (!incoming) {
    return std::unexpected(Status(StatusCode::kInvalidArgument, incoming.error().message()));
  }
  if (request.record.empty()) {
    return std::unexpected(Status(StatusCode::kInvalidArgument, "an empty record to merge"));
  }

  const RecordView joined = join(*stored, *incoming);
  const MergeRecordResult result{.stored = joined.version,
                                 .existed = stored->is_live(request.now_hlc)};
  // Fields of a later version of the header are not part of the view; between equal records that
  // differ in them the greater bytes win, so that replicas still agree.
  const bool take_incoming =
      joined == *incoming && (joined != *stored || request.record > **slot.value);
  if (joined == *stored && !take_incoming) return result;

  if (!slot.changed) {
    slot.changed = true;
    slot.partition = request.partition;
    if (*slot.value) slot.before = RecordUsage::of(request.key, **slot.value, *stored);
  }
  std::string encoded = take_incoming ? std::move(request.record) : encode(joined);
  slot.after = RecordUsage::of(request.key, encoded, joined);
  *slot.value = std::move(encoded);
  return result;
}

Result<ReadMetaResult> Batch::run_one(const ReadMeta& request) {
  Result<ReadMetaResult> result;
  result->values.reserve(request.names.size());
  for (size_t i = 0; i < request.names.size(); ++i) {
    const Slot& slot = next_slot();
    if (!slot.value) {
      result = std::unexpected(slot.value.error());
    } else if (result) {
      result->values.push_back(*slot.value);
    }
  }
  return result;
}

Result<WriteMetaResult> Batch::run_one(WriteMeta& request) {
  for (auto& [name, value] : request.values) {
    Slot& slot = next_slot();
    slot.value = std::move(value);  // whatever stood there, readable or not
    slot.changed = true;
    changes_meta_ = true;
  }
  return WriteMetaResult{};
}

Result<ReadUsageResult> Batch::run_one(const ReadUsage&) {
  return ReadUsageResult{};
}

std::vector<Mutation> Batch::take_mutations() {
  std::vector<Mutation> mutations;
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.changed) continue;
    if (mutations.empty()) mutations.reserve(slots_.size() - i);
    mutations.push_back({std::move(keys_[i]), *std::move(slot.value)});
    if (slot.after.bytes > 0) usage_changes_.push_back({slot.partition, slot.before, slot.after});
  }
  return mutations;
}

void Batch::fail(const Status& status) {
  for (StorageResult& result : results_) {
    if (result.status.ok()) result.status = status;
  }
}

void Batch::answer_usage_from(const UsageTable& usage) {
  for (StorageResult& result : results_) {
    if (auto* answer = std::get_if<ReadUsageResult>(&result.value)) {
      answer->partitions = usage.snapshot();
    }
  }
}

}  // namespace torc::storage
