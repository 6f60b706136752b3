// What a lookup on the ring over keys costs, each beside std::lower_bound over the same tokens in
// the same run: 100 nodes of 128 tokens each. The keys are hashed already. items_per_second
// compare.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "placement/hash_ring.h"

namespace torc::placement {
namespace {

HashRing::Snapshot ring(RingHash hash) {
  HashRing made({hash, 128, '#'});
  for (int n = 1; n <= 100; ++n) {
    if (!made.add("storage-" + std::to_string(n))) std::abort();
  }
  return made.snapshot();
}

template <typename Lookup>
void look_up(benchmark::State& state, RingHash hash, Lookup lookup) {
  constexpr size_t kKeys = 4096;
  std::vector<RingValue> hashes;
  for (size_t i = 0; i < kKeys; ++i) {
    hashes.push_back(hash_value(hash, "key" + std::to_string(i)));
  }
  for (auto _ : state) {
    uint64_t sum = 0;
    for (const RingValue value : hashes) sum += lookup(value);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kKeys));
}

void hash_ring(benchmark::State& state, RingHash hash) {
  const auto snapshot = ring(hash);
  look_up(state, hash, [&](RingValue value) { return snapshot->owner_index(value).value_or(0); });
}

// Over nothing but the sorted positions, with the owners beside them: the least it can cost.
void lower_bound(benchmark::State& state, RingHash hash) {
  const auto snapshot = ring(hash);
  std::vector<uint64_t> positions;
  std::vector<uint32_t> owners;
  for (size_t i = 0; i < snapshot->token_count(); ++i) {
    const auto token = snapshot->token(i);
    positions.push_back(bits_of(hash) > 64 ? token.position.high : token.position.low);
    owners.push_back(token.node);
  }
  look_up(state, hash, [&](RingValue value) {
    const uint64_t key = bits_of(hash) > 64 ? value.high : value.low;
    const auto found = std::lower_bound(positions.begin(), positions.end(), key);
    return owners[found == positions.end() ? 0 : static_cast<size_t>(found - positions.begin())];
  });
}

BENCHMARK_CAPTURE(hash_ring, xxh3, RingHash::kXxh3);
BENCHMARK_CAPTURE(lower_bound, xxh3, RingHash::kXxh3);
BENCHMARK_CAPTURE(hash_ring, md5, RingHash::kMd5);
BENCHMARK_CAPTURE(lower_bound, md5, RingHash::kMd5);

}  // namespace
}  // namespace torc::placement

BENCHMARK_MAIN();
