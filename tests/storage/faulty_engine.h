// FaultyEngine: a MemoryEngine that counts what is asked of it and fails on request, for tests of
// what stands above an engine. A failed write changes nothing. Set the faults before the call, from
// one thread.
#pragma once

#include <set>

#include "storage/memory_engine.h"

namespace torc::storage {

class FaultyEngine : public MemoryEngine {
 public:
  std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) override {
    ++multi_gets;
    auto results = MemoryEngine::multi_get(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      if (unreadable.contains(keys[i])) {
        results[i] = std::unexpected(Status(StatusCode::kCorruption, "damaged block"));
      }
    }
    return results;
  }
  Status write(std::span<const Mutation> mutations, bool sync) override {
    ++writes;
    if (!write_status.ok()) return write_status;
    synced_writes += sync;
    return MemoryEngine::write(mutations, sync);
  }
  Status sync() override {
    ++syncs;
    return MemoryEngine::sync();
  }

  int multi_gets = 0;
  int writes = 0;
  int synced_writes = 0;
  int syncs = 0;
  Status write_status;
  std::set<std::string> unreadable;
};

}  // namespace torc::storage
