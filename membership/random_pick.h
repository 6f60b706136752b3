// Shuffling with randomness that is passed in. The same random numbers give the same order on every
// machine, unlike std::shuffle. Pure.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace torc::membership {

// Moves `count` random elements to the front, in random order, and drops the rest. `random()` gives
// uint64_t.
template <typename T, typename Random>
void keep_random(std::vector<T>& items, size_t count, Random&& random) {
  if (items.size() < count) count = items.size();
  for (size_t i = 0; i < count; ++i) {
    std::swap(items[i], items[i + random() % (items.size() - i)]);
  }
  items.resize(count);
}

}  // namespace torc::membership
