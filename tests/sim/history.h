// History: checks what clients saw against what the store promises at quorum, operation by
// operation as they begin and end. An operation's version must be at least the newest version
// acknowledged or read before it began, and one version is one value for ever. Pure; knows neither
// time nor nodes, only the order of the calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/version.h"

namespace torc::sim {

class History {
 public:
  using OperationId = uint64_t;

  // An operation that is never ended has an unknown outcome: it may have taken effect, now or
  // later. REQUIRES: `value` was never put before.
  OperationId begin_put(std::string_view key, std::string_view value);
  OperationId begin_delete(std::string_view key);
  OperationId begin_get(std::string_view key);

  // The put or deletion was acknowledged under this version.
  void acknowledge(OperationId id, storage::Version version);
  // The put or deletion was refused in words that say it never takes effect.
  void refuse(OperationId id);
  // The get found a value under this version.
  void found(OperationId id, storage::Version version, std::string_view value);
  // The get found nothing: a tombstone, or with the zero version, no write at all.
  void absent(OperationId id, storage::Version version);

  bool is_get(OperationId id) const { return operations_[id].kind == Kind::kGet; }
  bool is_delete(OperationId id) const { return operations_[id].kind == Kind::kDelete; }

  bool ok() const { return violation_.empty(); }
  // The first violation in words; empty while ok().
  const std::string& violation() const { return violation_; }

  // Every key ever begun with, in order.
  std::vector<std::string> keys() const;
  // The newest version acknowledged or read so far; zero when none.
  storage::Version newest(std::string_view key) const;

 private:
  static constexpr OperationId kNoWriter = UINT64_MAX;

  enum class Kind { kPut, kDelete, kGet };

  // What a version turned out to be.
  struct Content {
    bool tombstone;
    OperationId writer;  // of the value; kNoWriter for a tombstone
  };

  struct Key {
    std::string name;
    storage::Version newest;              // acknowledged or read
    OperationId newest_from = kNoWriter;  // who saw it
    std::map<storage::Version, Content> contents;
  };

  struct Operation {
    Kind kind;
    Key* key;
    storage::Version floor;  // the key's newest when it began
    OperationId floor_from;
    bool refused = false;
    bool was_read = false;
  };

  OperationId begin(Kind kind, std::string_view key);
  // The operation ended with this version of its key.
  void see(OperationId id, storage::Version version, const Content& content);
  std::string describe(OperationId id) const;
  void fail(std::string violation);

  std::string violation_;
  std::map<std::string, Key, std::less<>> keys_;
  std::vector<Operation> operations_;
  std::unordered_map<std::string, OperationId> writers_;  // by value
};

}  // namespace torc::sim
