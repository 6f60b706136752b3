// EventQueue: the virtual clock and everything that is still to happen on it. Events run in the
// order (time, sequence), so equal times keep the order in which they were scheduled; time never
// goes back. Single-threaded.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "membership/instant.h"

namespace torc::sim {

class EventQueue {
 public:
  using Action = std::move_only_function<void()>;

  Instant now() const { return now_; }
  // Runs `action` at `when`, or as the last event of now when that is past.
  void at(Instant when, Action action);
  void after(Duration delay, Action action) { at(now_ + delay, std::move(action)); }

  // Runs the first event if it is due at or before `until`; otherwise moves the clock to `until`
  // and returns false. REQUIRES: not called from within an event.
  bool run_one(Instant until);
  void run_until(Instant until);

  uint64_t executed() const { return executed_; }
  size_t size() const { return heap_.size(); }

 private:
  struct Entry {
    Instant at;
    uint64_t sequence;
    uint32_t slot;

    bool operator>(const Entry& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  Instant now_{};
  uint64_t sequence_ = 0;
  uint64_t executed_ = 0;
  std::vector<Entry> heap_;
  std::vector<Action> actions_;  // by slot
  std::vector<uint32_t> free_;   // slots
};

}  // namespace torc::sim
