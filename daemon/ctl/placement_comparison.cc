#include "daemon/ctl/placement_comparison.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "placement/claim.h"
#include "placement/hash.h"
#include "placement/key_placer.h"
#include "placement/rack_rule.h"
#include "placement/share.h"

namespace torc::ctl {
namespace {

using placement::MemberIndex;
using placement::OwnerTable;
using placement::RackRule;
using placement::RingHash;
using placement::RingMember;
using placement::RingSnapshot;
using placement::RingValue;
using Clock = std::chrono::steady_clock;

constexpr uint32_t kLoadPercent = 105;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The end of the partition, on the circle of the hash.
RingValue end_of_partition(uint32_t partition, uint32_t partitions, RingHash hash) {
  const int bits = static_cast<int>(std::min(64u, placement::bits_of(hash)));
  const int shift = bits - std::countr_zero(partitions);
  // Only one partition makes this a shift by 64, to the end of the circle.
  const uint64_t end = shift == 64 ? UINT64_MAX : ((uint64_t{partition} + 1) << shift) - 1;
  return placement::bits_of(hash) > 64 ? RingValue{end, UINT64_MAX} : RingValue{0, end};
}

uint32_t partition_of(RingValue value, uint32_t partitions, RingHash hash) {
  const int bits = static_cast<int>(std::min(64u, placement::bits_of(hash)));
  const int shift = bits - std::countr_zero(partitions);
  const uint64_t top = placement::bits_of(hash) > 64 ? value.high : value.low;
  return shift == 64 ? 0 : static_cast<uint32_t>(top >> shift);
}

std::vector<RingValue> hash_keys(uint32_t count, RingHash hash) {
  std::vector<RingValue> hashes;
  hashes.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    hashes.push_back(placement::hash_value(hash, "key" + std::to_string(i)));
  }
  return hashes;
}

// The hashes by which an algorithm over keys places partitions: a ring by their ends, as the policy
// token-ring does, the others by their numbers.
std::vector<RingValue> hash_partitions(const PlacementScenario& scenario, bool by_end) {
  std::vector<RingValue> hashes;
  for (uint32_t p = 0; p < scenario.partitions; ++p) {
    const char bytes[4] = {static_cast<char>(p), static_cast<char>(p >> 8),
                           static_cast<char>(p >> 16), static_cast<char>(p >> 24)};
    hashes.push_back(by_end ? end_of_partition(p, scenario.partitions, scenario.hash)
                            : placement::hash_value(scenario.hash, {bytes, sizeof bytes}));
  }
  return hashes;
}

// The best of some batches: the machine has other work, which only ever adds. `lookup` gets the
// hash of a key.
template <typename Lookup>
double time_lookups(const PlacementScenario& scenario, Lookup lookup) {
  constexpr uint32_t kKeys = 1 << 13;
  constexpr int kBatches = 40;
  constexpr double kEnoughMs = 40;
  const auto hashes = hash_keys(kKeys, scenario.hash);
  uint64_t sum = 0;
  double best_ms = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  for (int batch = 0; batch < kBatches && milliseconds_since(start) < kEnoughMs; ++batch) {
    const auto batch_start = Clock::now();
    for (const RingValue hash : hashes) sum += lookup(hash);
    best_ms = std::min(best_ms, milliseconds_since(batch_start));
  }
  // The sum is used, so that the loop stays.
  return sum == UINT64_MAX ? 0 : 1e6 * best_ms / kKeys;
}

// The best time of some runs, in milliseconds.
template <typename Work>
double time_rebuild(Work work) {
  constexpr int kRuns = 5;
  constexpr double kEnoughMs = 100;
  double best_ms = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  for (int run = 0; run < kRuns && (run == 0 || milliseconds_since(start) < kEnoughMs); ++run) {
    const auto run_start = Clock::now();
    work();
    best_ms = std::min(best_ms, milliseconds_since(run_start));
  }
  return best_ms;
}

// A policy's answer for the members before and after, numbered as Everyone is.
class Run {
 public:
  Run(const PlacementScenario& scenario, std::string policy)
      : scenario_(scenario),
        everyone_(everyone_in(scenario)),
        outcome_{std::move(policy), OwnerTable(0, scenario.replication),
                 OwnerTable(0, scenario.replication)} {}

  std::expected<PolicyOutcome, std::string> run() {
    if (auto placed = place(); !placed) return std::unexpected(std::move(placed.error()));
    measure();
    return std::move(outcome_);
  }

 private:
  using Done = std::expected<void, std::string>;

  Done place() {
    const std::string& policy = outcome_.policy;
    std::string algorithm = policy;
    std::optional<uint32_t> load_percent;
    if (policy.starts_with("bounded-")) {
      algorithm = policy.substr(std::string_view("bounded-").size());
      load_percent = kLoadPercent;
    }
    // Partitions have policies of their own, but those know only one ring, and not jump or Maglev.
    const bool own_ring =
        algorithm == "token-ring" && (scenario_.vnodes != 128 || scenario_.hash != RingHash::kXxh3);
    const bool over_rows = placement::is_key_algorithm(algorithm) &&
                           (scenario_.keys || own_ring || !placement::is_policy(policy));
    return over_rows ? place_rows(algorithm, load_percent) : place_by_table();
  }

  Done place_by_table() {
    const auto table_of = [&](const RingSnapshot* previous, const std::vector<RingMember>& members,
                              uint64_t epoch) {
      return placement::next_table(
          previous, members,
          {outcome_.policy, scenario_.partitions, scenario_.replication, epoch, kLoadPercent});
    };
    const auto before = table_of(nullptr, scenario_.before, 1);
    if (!before) return std::unexpected(before.error());
    auto after = table_of(&*before, scenario_.after, 2);
    if (!after) return std::unexpected(after.error());
    outcome_.rebuild_ms = time_rebuild([&] { after = table_of(&*before, scenario_.after, 2); });

    std::vector<uint32_t> partitions;
    if (scenario_.keys) {
      for (const RingValue hash : hash_keys(*scenario_.keys, scenario_.hash)) {
        partitions.push_back(partition_of(hash, scenario_.partitions, scenario_.hash));
      }
    } else {
      for (uint32_t p = 0; p < scenario_.partitions; ++p) partitions.push_back(p);
    }
    outcome_.before = rows_of(*before, partitions);
    outcome_.after = rows_of(*after, partitions);

    outcome_.lookup_ns = time_lookups(scenario_, [&](RingValue hash) -> uint64_t {
      const auto owners = after->owners(partition_of(hash, scenario_.partitions, scenario_.hash));
      return owners.empty() ? 0 : owners.front();
    });
    return {};
  }

  OwnerTable rows_of(const RingSnapshot& table, const std::vector<uint32_t>& partitions) const {
    std::vector<MemberIndex> places;
    places.reserve(table.members().size());
    for (const std::string& name : table.members()) places.push_back(place_of(name));
    OwnerTable rows(static_cast<uint32_t>(partitions.size()), scenario_.replication);
    for (uint32_t row = 0; row < partitions.size(); ++row) {
      for (const MemberIndex owner : table.owners(partitions[row])) {
        rows.append(row, places[owner]);
      }
    }
    return rows;
  }

  MemberIndex place_of(const std::string& name) const {
    const auto& names = everyone_.names;
    return static_cast<MemberIndex>(std::find(names.begin(), names.end(), name) - names.begin());
  }

  Done place_rows(const std::string& algorithm, std::optional<uint32_t> load_percent) {
    const placement::KeyPlacerParameters parameters{scenario_.hash, scenario_.vnodes};
    const bool is_ring = algorithm == "token-ring";
    const std::vector<RingValue> hashes = scenario_.keys
                                              ? hash_keys(*scenario_.keys, scenario_.hash)
                                              : hash_partitions(scenario_, is_ring);
    const placement::KeyPlacement how{scenario_.replication, is_ring || algorithm == "rendezvous",
                                      load_percent};
    for (const bool is_after : {false, true}) {
      const auto& members = is_after ? scenario_.after : scenario_.before;
      auto placer = placement::make_key_placer(algorithm, members, parameters);
      if (!placer) return std::unexpected(placer.error());
      OwnerTable rows = placement::place_keys(**placer, hashes, members, how);
      std::vector<MemberIndex> places;
      for (const RingMember& member : members) places.push_back(place_of(member.name));
      for (MemberIndex& owner : rows.owners) owner = places[owner];
      (is_after ? outcome_.after : outcome_.before) = std::move(rows);
      if (!is_after) continue;
      outcome_.rebuild_ms = time_rebuild([&] {
        placer = placement::make_key_placer(algorithm, members, parameters);
        // Without a table the placing of all rows is no part of a change; a bound needs it.
        if (load_percent) placement::place_keys(**placer, hashes, members, how);
      });
      outcome_.lookup_ns = time_lookups(
          scenario_, [&](RingValue hash) -> uint64_t { return (*placer)->head(hash); });
    }
    return {};
  }

  std::vector<double> shares_of(const OwnerTable& table) const {
    std::vector<double> shares(everyone_.names.size(), 0);
    double total = 0;
    for (uint32_t row = 0; row < table.partitions(); ++row) {
      for (const MemberIndex owner : table.row(row)) {
        shares[owner] += 1;
        total += 1;
      }
    }
    for (double& share : shares) share *= total > 0 ? 100 / total : 0;
    return shares;
  }

  void measure() {
    outcome_.shares_before_pct = shares_of(outcome_.before);
    outcome_.shares_pct = shares_of(outcome_.after);
    measure_movement();
    measure_balance();
    measure_rows();
  }

  void measure_movement() {
    uint64_t moved = 0;
    uint64_t copies = 0;
    for (uint32_t row = 0; row < outcome_.after.partitions(); ++row) {
      const auto was = outcome_.before.row(row);
      for (const MemberIndex owner : outcome_.after.row(row)) {
        ++copies;
        moved += std::find(was.begin(), was.end(), owner) == was.end() ? 1 : 0;
      }
    }
    outcome_.moved_pct =
        copies == 0 ? 0 : 100.0 * static_cast<double>(moved) / static_cast<double>(copies);
    const double minimum = minimum_moved_pct(scenario_);
    if (minimum > 0) {
      outcome_.moved_over_minimum = outcome_.moved_pct / minimum;
    } else if (moved == 0) {
      outcome_.moved_over_minimum = 1;
    }
  }

  void measure_balance() {
    const std::vector<double> fair = fair_shares_pct(scenario_);
    double squares = 0;
    double members = 0;
    for (const RingMember& member : scenario_.after) {
      if (member.weight == 0) continue;
      const MemberIndex m = place_of(member.name);
      const double load = outcome_.shares_pct[m] / fair[m];
      outcome_.max_over_mean = std::max(outcome_.max_over_mean, load);
      squares += (load - 1) * (load - 1);
      members += 1;
    }
    outcome_.sd_pct = 100 * std::sqrt(squares / members);
  }

  void measure_rows() {
    const RackRule racks(scenario_.after, scenario_.replication);
    std::vector<uint32_t> rack_of(everyone_.names.size(), 0);
    for (size_t m = 0; m < scenario_.after.size(); ++m) {
      rack_of[place_of(scenario_.after[m].name)] = racks.of[m];
    }
    std::vector<uint32_t> in_rack(racks.count, 0);
    for (uint32_t row = 0; row < outcome_.after.partitions(); ++row) {
      const auto owners = outcome_.after.row(row);
      bool broken = false;
      for (const MemberIndex m : owners) broken |= ++in_rack[rack_of[m]] > racks.per_rack_max;
      for (const MemberIndex m : owners) in_rack[rack_of[m]] = 0;
      outcome_.rack_violations += broken ? 1 : 0;
      outcome_.shortfall += scenario_.replication - owners.size();
    }
  }

  const PlacementScenario& scenario_;
  const Everyone everyone_;
  PolicyOutcome outcome_;
};

// By place in Everyone, in percent of all copies.
std::vector<double> fair_pct(const PlacementScenario& scenario, const Everyone& everyone,
                             const std::vector<RingMember>& members) {
  const RackRule racks(members, scenario.replication);
  const auto fair = placement::fair_shares(members, racks, scenario.partitions);
  const double all = static_cast<double>(scenario.partitions) * racks.row_owners;
  std::vector<double> percent(everyone.names.size(), 0);
  for (size_t m = 0; m < members.size(); ++m) {
    const auto place = std::find(everyone.names.begin(), everyone.names.end(), members[m].name) -
                       everyone.names.begin();
    percent[static_cast<size_t>(place)] = 100.0 * static_cast<double>(fair[m].numerator) /
                                          static_cast<double>(fair[m].denominator) / all;
  }
  return percent;
}

}  // namespace

Everyone everyone_in(const PlacementScenario& scenario) {
  Everyone everyone;
  for (const RingMember& member : scenario.before) everyone.names.push_back(member.name);
  everyone.was.assign(everyone.names.size(), true);
  everyone.is.assign(everyone.names.size(), false);
  for (const RingMember& member : scenario.after) {
    const auto known = std::find(everyone.names.begin(), everyone.names.end(), member.name);
    if (known != everyone.names.end()) {
      everyone.is[static_cast<size_t>(known - everyone.names.begin())] = true;
      continue;
    }
    everyone.names.push_back(member.name);
    everyone.was.push_back(false);
    everyone.is.push_back(true);
  }
  return everyone;
}

std::vector<double> fair_shares_pct(const PlacementScenario& scenario) {
  return fair_pct(scenario, everyone_in(scenario), scenario.after);
}

double minimum_moved_pct(const PlacementScenario& scenario) {
  const Everyone everyone = everyone_in(scenario);
  const auto before = fair_pct(scenario, everyone, scenario.before);
  const auto after = fair_pct(scenario, everyone, scenario.after);
  double minimum = 0;
  for (size_t m = 0; m < before.size(); ++m) minimum += std::max(0.0, after[m] - before[m]);
  return minimum < 1e-9 ? 0 : minimum;
}

std::expected<PolicyOutcome, std::string> run_policy(const PlacementScenario& scenario,
                                                     const std::string& policy) {
  return Run(scenario, policy).run();
}

std::vector<double> row_angles(const PlacementScenario& scenario) {
  std::vector<double> angles;
  const auto hashes =
      scenario.keys ? hash_keys(*scenario.keys, scenario.hash) : hash_partitions(scenario, true);
  const int bits = static_cast<int>(std::min(64u, placement::bits_of(scenario.hash)));
  for (const RingValue hash : hashes) {
    const uint64_t top = placement::bits_of(scenario.hash) > 64 ? hash.high : hash.low;
    angles.push_back(std::ldexp(static_cast<double>(top), -bits));
  }
  return angles;
}

}  // namespace torc::ctl
