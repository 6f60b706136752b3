// Engine: an ordered map of byte strings with atomic batches, on disk (RocksEngine) or in memory
// (MemoryEngine). A batch written with sync survives kill -9 and power loss once write() has
// returned ok. Called from the storage queue's threads: reads may run beside one writer; only one
// thread writes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/status.h"

namespace torc::storage {

struct Mutation {
  std::string key;
  std::optional<std::string> value;  // nullopt deletes
};

class Engine {
 public:
  virtual ~Engine() = default;

  // One result per key, in order: the value, nullopt when absent, or the error that hid it.
  virtual std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) = 0;

  // Applies all mutations or none. With sync, waits until they are durable.
  virtual Status write(std::span<const Mutation> mutations, bool sync) = 0;

  // Makes everything written so far durable.
  virtual Status sync() = 0;

  // Visits keys in [begin, end) in byte order until the visitor returns false. An empty end has no
  // bound. The views live until the visitor returns.
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;
  virtual Status scan(std::string_view begin, std::string_view end, const Visitor& visit) = 0;

  // Deletes every key in [begin, end). REQUIRES: end is not empty.
  virtual Status delete_range(std::string_view begin, std::string_view end, bool sync) = 0;
};

}  // namespace torc::storage
