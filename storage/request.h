// StorageRequest and StorageResult: everything a Node asks of its disk, and what comes back. A
// request is answered exactly once, with its tag; requests that write keep their order, and a write
// is answered only when it is durable (or written, when the queue runs with interval durability).
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "storage/status.h"
#include "storage/version.h"

namespace torc::storage {

// The stored record of one key.
struct ReadRecord {
  uint32_t partition;
  std::string key;
};
struct ReadRecordResult {
  std::string record;  // encoded (record.h); empty = absent
};

// Joins `record` with what is stored and stores the join if it differs.
struct MergeRecord {
  uint32_t partition;
  std::string key;
  std::string record;  // encoded
  uint64_t now_hlc;    // decides whether what stood there before was expired
};
struct MergeRecordResult {
  // The value version stored afterwards. Newer than the request's value version: the request was
  // STALE.
  Version stored;
  bool existed;  // a live value stood here before
};

// Durable state of the daemon itself: named values, one atomic synced batch.
struct ReadMeta {
  std::vector<std::string> names;
};
struct ReadMetaResult {
  std::vector<std::optional<std::string>> values;  // in the order of the names
};
struct WriteMeta {
  std::vector<std::pair<std::string, std::string>> values;
};
struct WriteMetaResult {};

// How much each partition holds; kept in memory beside the engine, so it costs no reads.
struct ReadUsage {};
struct PartitionUsage {
  uint64_t keys = 0;   // live values; expired ones count until they are purged
  uint64_t bytes = 0;  // keys and records, tombstones included
};
struct ReadUsageResult {
  std::vector<PartitionUsage> partitions;  // by partition; shorter when the tail is empty
};

struct StorageRequest {
  uint64_t tag = 0;
  std::variant<ReadRecord, MergeRecord, ReadMeta, WriteMeta, ReadUsage> op;
};

struct StorageResult {
  uint64_t tag = 0;
  Status status;  // when not ok, the value below is meaningless
  std::variant<ReadRecordResult, MergeRecordResult, ReadMetaResult, WriteMetaResult,
               ReadUsageResult>
      value;
};

// Reads may run beside writes; everything else goes through the writer, in order.
inline bool is_read(const StorageRequest& request) {
  return std::holds_alternative<ReadRecord>(request.op) ||
         std::holds_alternative<ReadMeta>(request.op) ||
         std::holds_alternative<ReadUsage>(request.op);
}

}  // namespace torc::storage
