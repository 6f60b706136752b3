#include "daemon/node/deadlines.h"

#include <cassert>

namespace torc::node {

Deadlines::Handle Deadlines::set(Instant at, Part part, uint64_t cookie) {
  uint32_t slot;
  if (free_slots_.empty()) {
    slot = static_cast<uint32_t>(slots_.size());
    assert(slot < 1u << kSlotBits);
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const uint64_t sequence = ++sequence_;
  const Handle handle = sequence << kSlotBits | slot;
  slots_[slot].handle = handle;
  heap_.push_back({at, sequence, cookie, slot, part});
  sift_up(heap_.size() - 1);
  return handle;
}

void Deadlines::cancel(Handle handle) {
  const size_t slot = handle & ((Handle{1} << kSlotBits) - 1);
  if (handle == 0 || slot >= slots_.size() || slots_[slot].handle != handle) return;
  remove(slots_[slot].position);
}

Instant Deadlines::next() const {
  return heap_.empty() ? kNever : heap_.front().at;
}

bool Deadlines::pop(Instant now, Due& due) {
  if (heap_.empty() || heap_.front().at > now) return false;
  const Entry& first = heap_.front();
  due = {slots_[first.slot].handle, first.part, first.cookie};
  remove(0);
  return true;
}

void Deadlines::put(size_t position, const Entry& entry) {
  heap_[position] = entry;
  slots_[entry.slot].position = static_cast<uint32_t>(position);
}

void Deadlines::sift_up(size_t position) {
  const Entry entry = heap_[position];
  while (position > 0) {
    const size_t parent = (position - 1) / 2;
    if (!entry.before(heap_[parent])) break;
    put(position, heap_[parent]);
    position = parent;
  }
  put(position, entry);
}

void Deadlines::sift_down(size_t position) {
  const Entry entry = heap_[position];
  for (;;) {
    size_t child = 2 * position + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child])) ++child;
    if (!heap_[child].before(entry)) break;
    put(position, heap_[child]);
    position = child;
  }
  put(position, entry);
}

// The last entry takes the vacant place, from where it may have to move either way.
void Deadlines::remove(size_t position) {
  const uint32_t slot = heap_[position].slot;
  slots_[slot].handle = 0;
  free_slots_.push_back(slot);
  const Entry last = heap_.back();
  heap_.pop_back();
  if (position == heap_.size()) return;
  put(position, last);
  sift_up(position);
  sift_down(slots_[last.slot].position);
}

}  // namespace torc::node
