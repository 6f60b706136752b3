// RocksEngine: the engine on disk, one RocksDB in a directory that only one process can hold at a
// time. A synced batch survives kill -9 and power loss; a log damaged in its middle refuses to open
// rather than drop synced writes, and a damaged block is an error on read, never "not found".
// Threads as in engine.h.
#pragma once

#include <memory>
#include <string>

#include "storage/engine.h"

namespace torc::storage {

class RocksEngine : public Engine {
 public:
  // The format of the data directory that this program writes. A directory of a newer one is
  // refused.
  static constexpr uint32_t kFormatVersion = 1;

  // Creates the directory when it is missing (its parents too). kInUse: somebody else, in this
  // process or another, holds it; kUnsupported: its format is newer; kCorruption: what is there
  // cannot be read whole.
  static Result<std::unique_ptr<RocksEngine>> open(const std::string& dir);

  // Closes cleanly. What was not synced is then in the operating system's hands, as before.
  ~RocksEngine() override;

  std::vector<Result<std::optional<std::string>>> multi_get(
      std::span<const std::string> keys) override;
  Status write(std::span<const Mutation> mutations, bool sync) override;
  Status sync() override;
  Status scan(std::string_view begin, std::string_view end, const Visitor& visit) override;
  Status delete_range(std::string_view begin, std::string_view end, bool sync) override;

 private:
  struct Impl;  // keeps RocksDB's headers out of this one
  explicit RocksEngine(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace torc::storage
