#include "daemon/resp/key_order.h"

#include <cassert>
#include <utility>

namespace torc::resp {

std::optional<uint32_t> KeyOrder::enter(uint64_t key_hash, uint32_t sequence) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  Slot& slot = slots_[find(key_hash)];
  if (slot.used) return std::exchange(slot.sequence, sequence);
  slot = {key_hash, sequence, true};
  ++used_;
  return std::nullopt;
}

void KeyOrder::leave(uint64_t key_hash, uint32_t sequence) {
  size_t hole = find(key_hash);
  assert(slots_[hole].used);
  if (slots_[hole].sequence != sequence) return;  // another one has queued behind it
  // Close the gap, so that probing never has to step over dead slots (Knuth, TAOCP 6.4, algorithm
  // R).
  size_t i = hole;
  while (true) {
    i = (i + 1) & mask();
    if (!slots_[i].used) break;
    const size_t home = slots_[i].key_hash & mask();
    if (((i - home) & mask()) >= ((i - hole) & mask())) {
      slots_[hole] = slots_[i];
      hole = i;
    }
  }
  slots_[hole].used = false;
  --used_;
}

size_t KeyOrder::find(uint64_t key_hash) const {
  size_t i = key_hash & mask();
  while (slots_[i].used && slots_[i].key_hash != key_hash) i = (i + 1) & mask();
  return i;
}

void KeyOrder::grow() {
  std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 8 : 2 * slots_.size()));
  for (const Slot& slot : old) {
    if (slot.used) slots_[find(slot.key_hash)] = slot;
  }
}

}  // namespace torc::resp
