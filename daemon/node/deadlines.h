// Deadlines: every timer of one Node, a heap ordered by (deadline, sequence), so that equal deadlines fire in
// the order they were set. A timer fires once; cancelling one that fired is harmless. Used only by its Node.
#pragma once

#include <cstdint>
#include <vector>

#include "membership/instant.h"

namespace torc::node {

// The part of a Node that owns a timer or a storage request; also the top byte of a storage tag.
enum class Part : uint8_t { kIdentity, kClock, kTopology, kCoordinator, kReplica, kStatus };

class Deadlines {
 public:
  using Handle = uint64_t;  // never reused; 0 is no timer

  struct Due {
    Handle handle;
    Part part;
    uint64_t cookie;
  };

  Handle set(Instant at, Part part, uint64_t cookie);
  void cancel(Handle handle);
  Instant next() const;  // kNever when empty
  // Removes and returns the first timer at or before `now`; false when there is none.
  bool pop(Instant now, Due& due);
  size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    Instant at;
    Handle handle;  // rises with every set(), so it is the sequence too
    Part part;
    uint64_t cookie;
  };
  std::vector<Entry> heap_;
};

}  // namespace torc::node
