#include "tests/sim/random.h"

#include <xxhash.h>

#include <bit>
#include <cassert>

namespace torc::sim {

namespace {

uint64_t splitmix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(uint64_t seed) : seed_(seed) {
  uint64_t state = seed;
  for (uint64_t& word : state_) word = splitmix64(state);
}

Random Random::fork(std::string_view purpose) const {
  return Random(XXH3_64bits_withSeed(purpose.data(), purpose.size(), seed_));
}

Random Random::fork(std::string_view purpose, uint64_t index) const {
  Random base = fork(purpose);
  return Random(base.seed_ + splitmix64(index));
}

uint64_t Random::next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

uint64_t Random::below(uint64_t bound) {
  assert(bound > 0);
  // Lemire's multiply-shift on the upper half; the bias is far below what a simulation can see.
  if (bound <= UINT32_MAX) return ((next() >> 32) * bound) >> 32;
  return next() % bound;
}

int64_t Random::range(int64_t low, int64_t high) {
  assert(low <= high);
  return low + static_cast<int64_t>(below(static_cast<uint64_t>(high - low) + 1));
}

Duration Random::between(Duration low, Duration high) {
  return Duration(range(low.count(), high.count()));
}

bool Random::chance(uint32_t per_million) {
  return below(1'000'000) < per_million;
}

}  // namespace torc::sim
