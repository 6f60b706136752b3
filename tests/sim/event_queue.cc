#include "tests/sim/event_queue.h"

#include <algorithm>
#include <utility>

namespace torc::sim {

void EventQueue::at(Instant when, Action action) {
  uint32_t slot;
  if (free_.empty()) {
    slot = static_cast<uint32_t>(actions_.size());
    actions_.push_back(std::move(action));
  } else {
    slot = free_.back();
    free_.pop_back();
    actions_[slot] = std::move(action);
  }
  heap_.push_back({std::max(when, now_), sequence_++, slot});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

bool EventQueue::run_one(Instant until) {
  if (heap_.empty() || heap_.front().at > until) {
    now_ = std::max(now_, until);
    return false;
  }
  std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
  const Entry entry = heap_.back();
  heap_.pop_back();
  now_ = entry.at;
  ++executed_;
  Action action = std::exchange(actions_[entry.slot], nullptr);
  free_.push_back(entry.slot);
  action();
  return true;
}

void EventQueue::run_until(Instant until) {
  while (run_one(until)) {
  }
}

}  // namespace torc::sim
