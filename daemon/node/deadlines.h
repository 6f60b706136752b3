// Deadlines: every timer of one Node, a heap ordered by (deadline, sequence), so that equal
// deadlines fire in the order they were set. A timer fires once; cancelling one that fired is
// harmless, and a cancelled timer leaves nothing behind. Used only by its Node.
#pragma once

#include <cstdint>
#include <vector>

#include "membership/instant.h"

namespace torc::node {

// The part of a Node that owns a timer or a storage request; also the top byte of a storage tag.
enum class Part : uint8_t {
  kIdentity,
  kClock,
  kTopology,
  kFounder,
  kJoiner,
  kCoordinator,
  kReplica,
  kStatus,
};

class Deadlines {
 public:
  // 0 is no timer. A handle comes back only after 2^40 more timers.
  using Handle = uint64_t;

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
  // A handle is the timer's sequence and the slot that knows where the timer stands in the heap.
  static constexpr int kSlotBits = 24;

  struct Entry {
    Instant at;
    uint64_t sequence;
    uint64_t cookie;
    uint32_t slot;
    Part part;

    bool before(const Entry& other) const {
      return at != other.at ? at < other.at : sequence < other.sequence;
    }
  };
  struct Slot {
    Handle handle = 0;  // 0: free
    uint32_t position = 0;
  };

  void put(size_t position, const Entry& entry);
  void sift_up(size_t position);
  void sift_down(size_t position);
  void remove(size_t position);

  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  uint64_t sequence_ = 0;
};

}  // namespace torc::node
