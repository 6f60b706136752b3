// What placement costs, each figure beside the one it is to be compared with in the same run:
// a lookup beside one array read and beside a binary search over tokens, and a new table after one
// more member. Counters: moved replicas, and the bytes of a table.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "placement/claim.h"
#include "placement/hash.h"
#include "placement/policy.h"
#include "placement/transfer_plan.h"

namespace torc::placement {
namespace {

std::vector<RingMember> members(int64_t count) {
  std::vector<RingMember> made;
  for (int64_t m = 1; m <= count; ++m) made.push_back({"storage-" + std::to_string(m), 1, ""});
  return made;
}

RingSnapshot table(const RingSnapshot* previous, int64_t count, const std::string& policy,
                   uint32_t partitions) {
  return *next_table(previous, members(count), {policy, partitions, 3, previous ? 2u : 1u});
}

constexpr size_t kKeys = 4096;

std::vector<uint64_t> hashed_keys() {
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < kKeys; ++i) hashes.push_back(hash_bytes("key" + std::to_string(i)));
  return hashes;
}

// All lookups: the hashes of 4096 keys in turn, summing the first owners.
template <typename Lookup>
void look_up(benchmark::State& state, Lookup lookup) {
  const auto hashes = hashed_keys();
  for (auto _ : state) {
    uint64_t sum = 0;
    for (const uint64_t hash : hashes) sum += lookup(hash);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kKeys));
}

void lookup_array_read(benchmark::State& state) {
  const auto partitions = static_cast<uint32_t>(state.range(0));
  const int shift = 64 - std::countr_zero(partitions);
  const RingSnapshot ring = table(nullptr, 100, "token-ring", partitions);
  std::vector<MemberIndex> heads;
  for (uint32_t p = 0; p < partitions; ++p) heads.push_back(ring.owners(p)[0]);
  look_up(state, [&](uint64_t hash) { return heads[hash >> shift]; });
}

void lookup_table(benchmark::State& state) {
  const auto partitions = static_cast<uint32_t>(state.range(0));
  const int shift = 64 - std::countr_zero(partitions);
  const RingSnapshot ring = table(nullptr, 100, "token-ring", partitions);
  look_up(state,
          [&](uint64_t hash) { return ring.owners(static_cast<uint32_t>(hash >> shift))[0]; });
  state.counters["table_bytes"] = static_cast<double>(ring.memory_bytes());
}

void lookup_lower_bound(benchmark::State& state) {
  std::vector<std::pair<uint64_t, MemberIndex>> tokens;
  const auto owners = members(100);
  for (size_t m = 0; m < owners.size(); ++m) {
    for (int i = 0; i < 128; ++i) {
      tokens.emplace_back(hash_bytes(owners[m].name + "#" + std::to_string(i)),
                          static_cast<MemberIndex>(m));
    }
  }
  std::sort(tokens.begin(), tokens.end());
  look_up(state, [&](uint64_t hash) {
    const auto found =
        std::lower_bound(tokens.begin(), tokens.end(), hash,
                         [](const auto& token, uint64_t key) { return token.first < key; });
    return (found == tokens.end() ? tokens.front() : *found).second;
  });
}

// One member more than `members`, from the table before.
void next_table_after(benchmark::State& state, const std::string& policy) {
  const auto partitions = static_cast<uint32_t>(state.range(0));
  const int64_t count = state.range(1);
  const RingSnapshot before = table(nullptr, count, policy, partitions);
  const auto more = members(count + 1);
  uint64_t shortfall = 0;
  for (auto _ : state) {
    const auto after = next_table(&before, more, {policy, partitions, 3, 2});
    shortfall += after->shortfall();
  }
  const auto plan = transfer_plan(before, table(&before, count + 1, policy, partitions));
  state.counters["moved"] = static_cast<double>(plan->moved);
  state.counters["shortfall"] = static_cast<double>(shortfall);
}

void first_table(benchmark::State& state, const std::string& policy) {
  const auto partitions = static_cast<uint32_t>(state.range(0));
  const auto all = members(state.range(1));
  for (auto _ : state) {
    auto made = next_table(nullptr, all, {policy, partitions, 3, 1});
    benchmark::DoNotOptimize(made);
  }
}

void digest(benchmark::State& state) {
  const RingSnapshot ring =
      table(nullptr, 100, "token-ring", static_cast<uint32_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(ring.placement_digest());
}

BENCHMARK(lookup_array_read)->Arg(4096)->Arg(65'536);
BENCHMARK(lookup_table)->Arg(4096)->Arg(65'536);
BENCHMARK(lookup_lower_bound);
BENCHMARK(digest)->Arg(4096)->Arg(65'536)->Unit(benchmark::kMicrosecond);

[[maybe_unused]] const bool kRegistered = [] {
  for (const std::string_view name : policy_names()) {
    const std::string policy(name);
    benchmark::RegisterBenchmark(("next_table/" + policy).c_str(), next_table_after, policy)
        ->Args({4096, 100})
        ->Args({65'536, 100})
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("first_table/" + policy).c_str(), first_table, policy)
        ->Args({4096, 100})
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace torc::placement

BENCHMARK_MAIN();
