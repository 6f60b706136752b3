// Helpers for stories about tables: making them, reading them by name, and counting what moved.
// The generators give valid members only. For tests.
#pragma once

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "placement/claim.h"
#include "placement/policy.h"
#include "placement/rack_rule.h"
#include "placement/share.h"

namespace torc::placement {

using Members = std::vector<RingMember>;

inline Members numbered(size_t count, const std::string& stem = "m", uint32_t weight = 1) {
  Members members;
  for (size_t m = 1; m <= count; ++m) members.push_back({stem + std::to_string(m), weight, ""});
  return members;
}

inline Members by_name(Members members) {
  std::sort(members.begin(), members.end(),
            [](const RingMember& a, const RingMember& b) { return a.name < b.name; });
  return members;
}

inline RingSnapshot next(const RingSnapshot* previous, const Members& members,
                         const ClaimParameters& parameters) {
  auto made = next_table(previous, members, parameters);
  REQUIRE_MESSAGE(made.has_value(), made.error());
  return *std::move(made);
}

inline std::vector<std::string> names(const RingSnapshot& ring, uint32_t partition) {
  std::vector<std::string> out;
  for (const MemberIndex owner : ring.owners(partition)) out.push_back(ring.members()[owner]);
  return out;
}

// Replicas that stand where they did not stand before.
inline uint64_t moved(const RingSnapshot& before, const RingSnapshot& after) {
  uint64_t count = 0;
  for (uint32_t p = 0; p < after.partitions(); ++p) {
    const auto had = names(before, p);
    for (const std::string& name : names(after, p)) {
      count += std::find(had.begin(), had.end(), name) == had.end();
    }
  }
  return count;
}

inline std::vector<Share> shares_of(const Members& members, uint32_t partitions,
                                    uint32_t replication) {
  const Members sorted = by_name(members);
  return fair_shares(sorted, RackRule(sorted, replication), partitions);
}

// No table in which every member is within one partition of its share moves less than this: members
// must be filled to the least, and what empty places and members above the most hold must go
// somewhere.
inline uint64_t fewest_moves(const RingSnapshot& before, const Members& members,
                             uint32_t replication) {
  const Members sorted = by_name(members);
  const RackRule racks(sorted, replication);
  const auto shares = fair_shares(sorted, racks, before.partitions());
  std::map<std::string, uint32_t> owned;
  const auto counts = before.owned_counts();
  for (size_t m = 0; m < counts.size(); ++m) owned[before.members()[m]] = counts[m];
  uint64_t lacking = 0;
  uint64_t kept = 0;
  for (size_t m = 0; m < sorted.size(); ++m) {
    const uint32_t has = owned[sorted[m].name];
    if (has < shares[m].floor()) lacking += shares[m].floor() - has;
    kept += std::min(has, shares[m].ceil());
  }
  const uint64_t all = uint64_t{before.partitions()} * racks.row_owners;
  return std::max(lacking, all - std::min(kept, all));
}

// What is wrong with the owners of some partition under the rack rule; empty: nothing.
inline std::string broken_row(const RingSnapshot& ring, const Members& members) {
  const Members sorted = by_name(members);
  const RackRule racks(sorted, ring.replication());
  for (uint32_t p = 0; p < ring.partitions(); ++p) {
    std::set<MemberIndex> distinct;
    std::map<uint32_t, uint32_t> in_rack;
    for (const MemberIndex owner : ring.owners(p)) {
      if (!distinct.insert(owner).second) return "twice in " + std::to_string(p);
      if (sorted[owner].weight == 0) return "weightless in " + std::to_string(p);
      if (++in_rack[racks.of[owner]] > racks.per_rack_max) return "rack in " + std::to_string(p);
    }
    if (ring.owners(p).size() != racks.row_owners) return "short " + std::to_string(p);
  }
  return {};
}

inline bool is_within_one(const RingSnapshot& ring, const Members& members) {
  const auto shares = shares_of(members, ring.partitions(), ring.replication());
  const auto owned = ring.owned_counts();
  for (size_t m = 0; m < owned.size(); ++m) {
    // |owned - share| < 1, exactly.
    const auto& [n, d] = shares[m];
    if (owned[m] * d >= n + d || owned[m] * d + d <= n) return false;
  }
  return true;
}

inline rc::Gen<Members> any_members(int count_max, int racks_max, int weight_max) {
  return rc::gen::exec([=] {
    const int count = *rc::gen::inRange(1, count_max + 1);
    const int racks = *rc::gen::inRange(1, racks_max + 1);
    Members members;
    for (int m = 0; m < count; ++m) {
      // The first has weight, so that there is always somebody to own something.
      const int weight = *rc::gen::inRange(m == 0 ? 1 : 0, weight_max + 1);
      members.push_back({"node" + std::to_string(m + 1), static_cast<uint32_t>(weight),
                         "rack" + std::to_string(*rc::gen::inRange(0, racks))});
    }
    return members;
  });
}

// A small generator of our own, since long walks through changes need no shrinking.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  uint32_t below(uint32_t bound) {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t x = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return static_cast<uint32_t>((x ^ (x >> 31)) % bound);
  }

 private:
  uint64_t state_;
};

}  // namespace torc::placement
