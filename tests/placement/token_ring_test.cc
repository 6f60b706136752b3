#include "placement/token_ring.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "placement/claim.h"
#include "placement/hash.h"

namespace torc::placement {
namespace {

RingSnapshot table(std::vector<RingMember> members, uint32_t partitions, uint32_t replication) {
  auto made = next_table(nullptr, members, {"token-ring", partitions, replication, 1});
  REQUIRE(made.has_value());
  return *std::move(made);
}

std::vector<std::string> owner_names(const RingSnapshot& ring, uint32_t partition) {
  std::vector<std::string> names;
  for (const MemberIndex owner : ring.owners(partition)) names.push_back(ring.members()[owner]);
  return names;
}

// The rule as the design words it, with no cleverness: walk the sorted tokens from each partition's
// last hash.
std::vector<std::string> owners_by_walking(const std::vector<RingMember>& members,
                                           uint32_t partitions, uint32_t replication,
                                           uint32_t partition) {
  std::vector<std::tuple<uint64_t, std::string, uint32_t>> tokens;
  std::map<std::string, std::string> rack_of;
  std::set<std::string> racks;
  for (const RingMember& member : members) {
    if (member.weight > 0) racks.insert(member.rack);
    rack_of[member.name] = member.rack;
    for (uint32_t i = 0; i < member.weight * 128; ++i) {
      tokens.emplace_back(hash_bytes(member.name + "#" + std::to_string(i)), member.name, i);
    }
  }
  std::sort(tokens.begin(), tokens.end());
  const uint64_t width = partitions == 1 ? 0 : (UINT64_MAX / partitions) + 1;
  const uint64_t last_hash = width * (partition + 1) - 1;
  const auto start = std::lower_bound(tokens.begin(), tokens.end(), last_hash,
                                      [](const auto& t, uint64_t h) { return std::get<0>(t) < h; });
  const auto begin = static_cast<size_t>(start - tokens.begin());
  const size_t per_rack = (replication + racks.size() - 1) / racks.size();
  std::map<std::string, size_t> in_rack;
  std::vector<std::string> owners;
  for (size_t step = 0; step < tokens.size() && owners.size() < replication; ++step) {
    const std::string& name = std::get<1>(tokens[(begin + step) % tokens.size()]);
    if (std::find(owners.begin(), owners.end(), name) != owners.end()) continue;
    if (in_rack[rack_of[name]] == per_rack) continue;
    ++in_rack[rack_of[name]];
    owners.push_back(name);
  }
  return owners;
}

rc::Gen<std::vector<RingMember>> any_members() {
  return rc::gen::exec([] {
    const int count = *rc::gen::inRange(1, 8);
    const int racks = *rc::gen::inRange(1, 5);
    std::vector<RingMember> members;
    for (int m = 0; m < count; ++m) {
      // The first has weight, so that there is always somebody to own something.
      const int weight = *rc::gen::inRange(m == 0 ? 1 : 0, 4);
      const int rack = *rc::gen::inRange(0, racks);
      members.push_back({"node" + std::to_string(m + 1), static_cast<uint32_t>(weight),
                         "rack" + std::to_string(rack)});
    }
    return members;
  });
}

TEST_CASE("token ring: owners are those met first when walking from the partition's last hash") {
  CHECK(rc::check([] {
    const auto members = *any_members();
    const auto partitions = uint32_t{1} << *rc::gen::inRange(0, 8);
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    const RingSnapshot ring = table(members, partitions, replication);
    for (uint32_t p = 0; p < partitions; p += 1 + p / 7) {
      RC_ASSERT(owner_names(ring, p) == owners_by_walking(members, partitions, replication, p));
    }
  }));
}

TEST_CASE("token ring: the order in which members are named does not matter") {
  CHECK(rc::check([] {
    const auto members = *any_members();
    auto shuffled = members;
    for (size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
    }
    RC_ASSERT(table(members, 64, 3).encode() == table(shuffled, 64, 3).encode());
  }));
}

TEST_CASE("token ring: owners are distinct, and racks are shared no more than they must be") {
  CHECK(rc::check([] {
    const auto members = *any_members();
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    const RingSnapshot ring = table(members, 64, replication);
    std::map<std::string, std::string> rack_of;
    std::map<std::string, uint32_t> rack_sizes;
    for (const RingMember& member : members) {
      rack_of[member.name] = member.rack;
      if (member.weight > 0) ++rack_sizes[member.rack];
    }
    const auto racks = static_cast<uint32_t>(rack_sizes.size());
    const uint32_t per_rack = (replication + racks - 1) / racks;
    uint32_t possible = 0;
    for (const auto& [rack, size] : rack_sizes) possible += std::min(size, per_rack);

    for (uint32_t p = 0; p < 64; ++p) {
      const auto owners = owner_names(ring, p);
      RC_ASSERT(std::set(owners.begin(), owners.end()).size() == owners.size());
      std::map<std::string, uint32_t> in_rack;
      for (const auto& name : owners) RC_ASSERT(++in_rack[rack_of[name]] <= per_rack);
      RC_ASSERT(owners.size() == std::min(replication, possible));
    }
    RC_ASSERT(ring.shortfall() == 64 * (replication - std::min(replication, possible)));
  }));
}

TEST_CASE("token ring: a new member takes what it gets and moves nothing between the others") {
  CHECK(rc::check([] {
    auto members = *any_members();
    for (auto& member : members) member.rack.clear();
    const RingSnapshot before = table(members, 256, 3);
    members.push_back({"newcomer", 2, ""});
    const RingSnapshot after = table(members, 256, 3);
    for (uint32_t p = 0; p < 256; ++p) {
      const auto had = owner_names(before, p);
      for (const auto& name : owner_names(after, p)) {
        if (name != "newcomer") RC_ASSERT(std::find(had.begin(), had.end(), name) != had.end());
      }
    }
  }));
}

TEST_CASE("token ring: the names node1 and node10 do not disturb each other") {
  const RingSnapshot ring = table({{"node1"}, {"node10"}}, 4096, 1);
  const auto owned = ring.owned_counts();
  CHECK(owned[0] > 1600);
  CHECK(owned[1] > 1600);
}

TEST_CASE("token ring: weight 2 owns about twice as much as weight 1, weight 0 nothing") {
  std::vector<RingMember> members;
  for (int m = 0; m < 8; ++m) members.push_back({"m" + std::to_string(m), m % 2 ? 2u : 1u, ""});
  members.push_back({"none", 0, ""});
  const auto owned = table(members, 4096, 1).owned_counts();
  double light = 0, heavy = 0;
  for (size_t m = 0; m < 8; ++m) (m % 2 ? heavy : light) += owned[m];
  CHECK(heavy / light > 1.8);
  CHECK(heavy / light < 2.2);
  CHECK(owned[8] == 0);
}

TEST_CASE("token ring: three replicas on three racks never share one") {
  const RingSnapshot ring = table(
      {{"a", 1, "r1"}, {"b", 1, "r1"}, {"c", 1, "r2"}, {"d", 1, "r2"}, {"e", 1, "r3"}}, 256, 3);
  for (uint32_t p = 0; p < 256; ++p) {
    std::set<int> racks;
    for (const auto& name : owner_names(ring, p)) racks.insert((name[0] - 'a') / 2);
    CHECK(racks.size() == 3);
  }
}

TEST_CASE("token ring: a rack too small for its share leaves an explicit shortfall") {
  // Two racks and four replicas: two per rack, and the second rack has one member only.
  const RingSnapshot ring =
      table({{"a", 1, "big"}, {"b", 1, "big"}, {"c", 1, "big"}, {"d", 1, "small"}}, 16, 4);
  for (uint32_t p = 0; p < 16; ++p) CHECK(ring.owners(p).size() == 3);
  CHECK(ring.shortfall() == 16);
}

// A failure here means that data would move on upgrade: such a change needs a new policy version.
TEST_CASE("token ring: where data lies is fixed for ever") {
  CHECK(table({{"n1"}}, 16, 3).placement_digest() == 0xd9f9adb704ab2f18);
  CHECK(table({{"n1"}, {"n2"}, {"n3"}}, 4096, 3).placement_digest() == 0x956738280bcc89c4);
  CHECK(table({{"node1", 1}, {"node10", 2}, {"node2", 3}, {"spare", 0}}, 1024, 2)
            .placement_digest() == 0x32556d569eb769a5);
  CHECK(table({{"a", 1, "r1"}, {"b", 1, "r1"}, {"c", 1, "r2"}, {"d", 2, "r3"}}, 256, 3)
            .placement_digest() == 0x95e256292c2294c2);
  std::vector<RingMember> many;
  for (int m = 1; m <= 100; ++m) many.push_back({"storage-" + std::to_string(m), 1, ""});
  CHECK(table(many, 4096, 3).placement_digest() == 0xe318e53fe7c67130);
}

TEST_CASE("token ring: very unequal weights cost no more than their tokens") {
  // Walking token by token would take a hundred thousand steps per partition here.
  const RingSnapshot ring = table({{"giant", 31'000}, {"dwarf", 1}, {"gnome", 1}}, 65'536, 3);
  CHECK(ring.shortfall() == 0);
}

}  // namespace
}  // namespace torc::placement
