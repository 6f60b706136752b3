#include "tests/sim/crash_engine.h"

#include <cassert>
#include <ranges>
#include <utility>

namespace torc::sim {

std::vector<Result<std::optional<std::string>>> CrashEngine::multi_get(
    std::span<const std::string> keys) {
  return memory_.multi_get(keys);
}

void CrashEngine::remember(const std::string& key) {
  auto before = memory_.multi_get(std::span(&key, 1));
  assert(before.size() == 1 && before[0].has_value());
  undo_.push_back({key, std::move(*before[0])});
}

Status CrashEngine::write(std::span<const storage::Mutation> mutations, bool sync) {
  if (sync) {
    undo_.clear();
  } else {
    for (const storage::Mutation& mutation : mutations) remember(mutation.key);
  }
  return memory_.write(mutations, sync);
}

Status CrashEngine::sync() {
  undo_.clear();
  return memory_.sync();
}

Status CrashEngine::scan(std::string_view begin, std::string_view end, const Visitor& visit) {
  return memory_.scan(begin, end, visit);
}

Status CrashEngine::delete_range(std::string_view begin, std::string_view end, bool sync) {
  if (sync) {
    undo_.clear();
  } else {
    std::vector<std::string> keys;
    const Status status = memory_.scan(begin, end, [&](std::string_view key, std::string_view) {
      keys.emplace_back(key);
      return true;
    });
    if (!status.ok()) return status;
    for (const std::string& key : keys) remember(key);
  }
  return memory_.delete_range(begin, end, sync);
}

void CrashEngine::lose_unsynced() {
  std::vector<storage::Mutation> undo = std::exchange(undo_, {});
  for (const storage::Mutation& mutation : undo | std::views::reverse) {
    const Status status = memory_.write(std::span(&mutation, 1), true);
    assert(status.ok());
    (void)status;
  }
}

}  // namespace torc::sim
