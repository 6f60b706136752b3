#include "placement/key_placer.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "placement/claim.h"
#include "placement/jump_hash.h"
#include "placement/maglev.h"

namespace torc::placement {
namespace {

constexpr std::string_view kAlgorithms[] = {"jump", "maglev", "modulo", "rendezvous", "token-ring"};

std::vector<RingMember> members_of(size_t count) {
  std::vector<RingMember> members;
  for (size_t i = 1; i <= count; ++i) members.push_back({"n" + std::to_string(i)});
  return members;
}

std::unique_ptr<KeyPlacer> make(std::string_view algorithm, std::span<const RingMember> members,
                                KeyPlacerParameters parameters = {}) {
  auto made = make_key_placer(algorithm, members, parameters);
  REQUIRE(made.has_value());
  return *std::move(made);
}

std::vector<RingValue> key_hashes(int count, RingHash hash = RingHash::kXxh3) {
  std::vector<RingValue> hashes;
  for (int i = 0; i < count; ++i) hashes.push_back(hash_value(hash, "key" + std::to_string(i)));
  return hashes;
}

double moved_percent(std::string_view algorithm, const std::vector<RingMember>& before,
                     const std::vector<RingMember>& after) {
  const auto hashes = key_hashes(20'000);
  const auto old_placer = make(algorithm, before);
  const auto new_placer = make(algorithm, after);
  int moved = 0;
  for (const RingValue hash : hashes) {
    moved += before[old_placer->head(hash)].name != after[new_placer->head(hash)].name ? 1 : 0;
  }
  return moved / 200.0;
}

TEST_CASE("jump: the numbers of the paper's function") {
  CHECK(jump_hash(0, 1) == 0);
  CHECK(jump_hash(1, 1) == 0);
  CHECK(jump_hash(10863919174838991, 11) == 6);
  CHECK(jump_hash(2016238256797177309, 11) == 3);
  CHECK(jump_hash(1673758223894951030, 11) == 5);
  CHECK(jump_hash(2, 100'001) == 80343);
  CHECK(jump_hash(2201, 100'001) == 22152);
  CHECK(jump_hash(2202, 100'001) == 15018);
}

TEST_CASE("jump: one bucket more takes its part from all and moves nothing else") {
  CHECK(rc::check("stays or moves to the last", [](uint64_t key) {
    const auto buckets = *rc::gen::inRange(1u, 1000u);
    const uint32_t before = jump_hash(key, buckets);
    const uint32_t after = jump_hash(key, buckets + 1);
    RC_ASSERT(before < buckets);
    RC_ASSERT(after == before || after == buckets);
  }));
}

TEST_CASE("maglev: every entry has a member, and members of one weight have the same within one") {
  const auto members = members_of(7);
  std::vector<int> counts(7, 0);
  for (const MemberIndex m : maglev_table(members)) ++counts.at(m);
  CHECK(*std::max_element(counts.begin(), counts.end()) -
            *std::min_element(counts.begin(), counts.end()) <=
        1);
}

TEST_CASE("maglev: entries follow the weights, and weight 0 has none") {
  const std::vector<RingMember> members = {{"a", 1}, {"b", 3}, {"c", 0}};
  std::vector<int> counts(3, 0);
  for (const MemberIndex m : maglev_table(members, 4001)) ++counts.at(m);
  CHECK(counts == std::vector<int>{1000, 3001, 0});
}

TEST_CASE("key placer: head is the first of the walk, and the walk meets each member once") {
  CHECK(rc::check("walk", [](uint64_t low) {
    const auto algorithm = *rc::gen::elementOf(
        std::vector<std::string_view>(std::begin(kAlgorithms), std::end(kAlgorithms)));
    auto members = members_of(*rc::gen::inRange<size_t>(1, 9));
    for (RingMember& member : members) member.weight = *rc::gen::inRange(0u, 3u);
    members.front().weight = 1;
    const auto placer = make_key_placer(algorithm, members, {RingHash::kXxh3, 4});
    RC_ASSERT(placer.has_value());
    std::vector<MemberIndex> walk;
    (*placer)->walk({0, low}, [&](MemberIndex m) { return walk.push_back(m), true; });
    std::set<MemberIndex> expected;
    for (size_t m = 0; m < members.size(); ++m) {
      if (members[m].weight > 0) expected.insert(static_cast<MemberIndex>(m));
    }
    RC_ASSERT(walk.front() == (*placer)->head({0, low}));
    RC_ASSERT(std::set<MemberIndex>(walk.begin(), walk.end()) == expected);
    RC_ASSERT(walk.size() == expected.size());
  }));
}

TEST_CASE(
    "key placer: a join moves 1/(N+1) of the keys, but for modulo, and a little more in maglev") {
  const auto ten = members_of(10);
  const auto eleven = members_of(11);
  CHECK(moved_percent("modulo", ten, eleven) > 85);
  for (const char* algorithm : {"jump", "rendezvous"}) {
    CHECK(moved_percent(algorithm, ten, eleven) == doctest::Approx(100.0 / 11).epsilon(0.08));
  }
  CHECK(moved_percent("token-ring", ten, eleven) == doctest::Approx(100.0 / 11).epsilon(0.3));
  CHECK(moved_percent("maglev", ten, eleven) < 14);
}

TEST_CASE("key placer: jump cannot lose a member from the middle without moving most keys") {
  auto members = members_of(10);
  auto without_third = members;
  without_third.erase(without_third.begin() + 2);
  CHECK(moved_percent("jump", members, without_third) > 40);
  CHECK(moved_percent("rendezvous", members, without_third) < 12);
}

TEST_CASE("key placer: the ring over the ends of partitions is the policy token-ring") {
  const std::vector<RingMember> members = {
      {"a", 1, "r1"}, {"b", 2, "r1"}, {"c", 1, "r2"}, {"d", 1, "r3"}, {"e", 0, "r4"}};
  constexpr uint32_t kPartitions = 256;
  const auto snapshot = next_table(nullptr, members, {"token-ring", kPartitions, 3, 1}).value();
  std::vector<RingValue> ends;
  for (uint64_t p = 1; p <= kPartitions; ++p) ends.push_back({0, (p << 56) - 1});
  const OwnerTable table =
      place_keys(*make("token-ring", members), ends, members, {3, true, std::nullopt});
  for (uint32_t p = 0; p < kPartitions; ++p) {
    CHECK(std::ranges::equal(table.row(p), snapshot.owners(p)));
  }
}

TEST_CASE("key placer: under a bound nobody owns more than ceil(percent x its share)") {
  for (const char* algorithm : {"token-ring", "rendezvous"}) {
    std::vector<RingMember> members = members_of(10);
    members[0].weight = 2;
    const auto hashes = key_hashes(11'000);
    const OwnerTable table =
        place_keys(*make(algorithm, members), hashes, members, {1, false, 105});
    std::vector<int> counts(10, 0);
    for (uint32_t row = 0; row < 11'000; ++row) ++counts.at(table.row(row)[0]);
    CHECK(counts[0] <= 2100);
    CHECK(*std::max_element(counts.begin() + 1, counts.end()) <= 1050);
  }
}

TEST_CASE("key placer: a bounded placement does not depend on the order of the keys") {
  const auto members = members_of(5);
  auto hashes = key_hashes(500);
  const auto placer = make("token-ring", members);
  const OwnerTable forward = place_keys(*placer, hashes, members, {2, false, 105});
  std::reverse(hashes.begin(), hashes.end());
  const OwnerTable backward = place_keys(*placer, hashes, members, {2, false, 105});
  for (uint32_t row = 0; row < 500; ++row) {
    CHECK(std::ranges::equal(forward.row(row), backward.row(499 - row)));
  }
}

TEST_CASE("key placer: fewer members than copies leave short rows") {
  const auto members = members_of(2);
  const OwnerTable table =
      place_keys(*make("maglev", members), key_hashes(10), members, {3, false, std::nullopt});
  for (uint32_t row = 0; row < 10; ++row) CHECK(table.row(row).size() == 2);
}

TEST_CASE("key placer: weights that need too many tokens or places are an error") {
  const std::vector<RingMember> members = {{"a", 5'000'000}};
  for (const char* algorithm : {"jump", "modulo", "token-ring"}) {
    CHECK_FALSE(make_key_placer(algorithm, members, {}).has_value());
  }
}

}  // namespace
}  // namespace torc::placement
