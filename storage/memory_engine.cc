#include "storage/memory_engine.h"

#include <cassert>
#include <ranges>

namespace torc::storage {

std::vector<Result<std::optional<std::string>>> MemoryEngine::multi_get(
    std::span<const std::string> keys) {
  const std::lock_guard lock(mutex_);
  std::vector<Result<std::optional<std::string>>> results;
  results.reserve(keys.size());
  for (const std::string& key : keys) {
    const auto it = map_.find(key);
    if (it == map_.end()) {
      results.emplace_back(std::nullopt);
    } else {
      results.emplace_back(it->second);
    }
  }
  return results;
}

void MemoryEngine::apply(const Mutation& mutation, UndoBatch& undo) {
  const auto it = map_.lower_bound(mutation.key);
  const bool present = it != map_.end() && it->first == mutation.key;
  if (!mutation.value) {
    if (!present) return;
    undo.push_back({mutation.key, std::move(it->second)});
    map_.erase(it);
  } else if (present) {
    undo.push_back({mutation.key, std::move(it->second)});
    it->second = *mutation.value;
  } else {
    undo.push_back({mutation.key, std::nullopt});
    map_.emplace_hint(it, mutation.key, *mutation.value);
  }
}

void MemoryEngine::finish_batch(UndoBatch undo, bool sync) {
  // A synced write makes durable all that came before it: there is one log.
  if (sync) {
    unsynced_.clear();
  } else {
    unsynced_.push_back(std::move(undo));
  }
}

Status MemoryEngine::write(std::span<const Mutation> mutations, bool sync) {
  const std::lock_guard lock(mutex_);
  UndoBatch undo;
  undo.reserve(mutations.size());
  for (const Mutation& mutation : mutations) apply(mutation, undo);
  finish_batch(std::move(undo), sync);
  return {};
}

Status MemoryEngine::sync() {
  const std::lock_guard lock(mutex_);
  unsynced_.clear();
  return {};
}

Status MemoryEngine::scan(std::string_view begin, std::string_view end, const Visitor& visit) {
  const std::lock_guard lock(mutex_);
  for (auto it = map_.lower_bound(begin); it != map_.end(); ++it) {
    if (!end.empty() && it->first >= end) break;
    if (!visit(it->first, it->second)) break;
  }
  return {};
}

Status MemoryEngine::delete_range(std::string_view begin, std::string_view end, bool sync) {
  assert(!end.empty());
  const std::lock_guard lock(mutex_);
  UndoBatch undo;
  auto it = map_.lower_bound(begin);
  while (it != map_.end() && it->first < end) {
    undo.push_back({it->first, std::move(it->second)});
    it = map_.erase(it);
  }
  finish_batch(std::move(undo), sync);
  return {};
}

size_t MemoryEngine::unsynced_batches() const {
  const std::lock_guard lock(mutex_);
  return unsynced_.size();
}

void MemoryEngine::crash(size_t unsynced_batches_kept) {
  const std::lock_guard lock(mutex_);
  assert(unsynced_batches_kept <= unsynced_.size());
  for (; unsynced_.size() > unsynced_batches_kept; unsynced_.pop_back()) {
    for (Mutation& undo : std::views::reverse(unsynced_.back())) {
      if (undo.value) {
        map_.insert_or_assign(std::move(undo.key), std::move(*undo.value));
      } else {
        map_.erase(undo.key);
      }
    }
  }
  unsynced_.clear();
}

}  // namespace torc::storage
