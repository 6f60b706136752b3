// CrashEngine: a MemoryEngine that remembers how to take back what was written but not synced, as a
// power cut does. After lose_unsynced() it holds exactly what it held after the last sync.
// Simulator only; one thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/engine.h"
#include "storage/memory_engine.h"

namespace torc::sim {

class CrashEngine : public storage::Engine {
 public:
  std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) override;
  Status write(std::span<const storage::Mutation> mutations, bool sync) override;
  Status sync() override;
  Status scan(std::string_view begin, std::string_view end, const Visitor& visit) override;
  Status delete_range(std::string_view begin, std::string_view end, bool sync) override;

  void lose_unsynced();

 private:
  void remember(const std::string& key);

  storage::MemoryEngine memory_;
  std::vector<storage::Mutation> undo_;  // what stood there before, oldest first
};

}  // namespace torc::sim
