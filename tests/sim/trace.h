// Trace: the fingerprint of a run, a hash chained over every event that reached a node, and with
// `verbose` its story on stderr. Two runs with equal hashes delivered the same bytes to the same
// nodes at the same times. One per Cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "membership/instant.h"

namespace torc::sim {

enum class EventKind : uint32_t {
  kStart,
  kCrash,
  kStop,
  kPause,
  kResume,
  kMessage,
  kStorage,
  kTime,
  kPeerLost,
  kCommand,
  kClientLost,
  kAnswer,
  kFault,
};
const char* to_string(EventKind kind);

// For events of the world rather than of one node.
constexpr size_t kNoNode = static_cast<size_t>(-1);

class Trace {
 public:
  explicit Trace(bool verbose) : verbose_(verbose) {}

  void record(Instant at, size_t node, EventKind kind, std::string_view bytes);
  // A line of the story; changes no hash. Callers build the text only when verbose().
  void say(Instant at, size_t node, std::string_view text) const;

  bool verbose() const { return verbose_; }
  uint64_t hash() const { return hash_; }

 private:
  bool verbose_;
  uint64_t hash_ = 0;
};

}  // namespace torc::sim
