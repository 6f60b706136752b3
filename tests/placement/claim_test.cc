#include "placement/claim.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace torc::placement {
namespace {

std::string error_of(const std::vector<RingMember>& members, const ClaimParameters& parameters,
                     const RingSnapshot* previous = nullptr) {
  const auto table = next_table(previous, members, parameters);
  return table ? "" : table.error();
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST_CASE("claim: what is wrong with the members is said, with the culprit's name") {
  const ClaimParameters parameters{"token-ring", 16, 3, 1};
  CHECK(error_of({{"a"}, {"b"}}, parameters).empty());
  CHECK(error_of({}, parameters) == "no members");
  CHECK(error_of({{"a"}, {""}}, parameters) == "a member without a name");
  CHECK(error_of({{"b"}, {"a"}, {"b"}}, parameters) == "two members are named 'b'");
  CHECK(contains(error_of({{"a\nb"}}, parameters), "printable"));
  CHECK(contains(error_of({{"caf\xe9"}}, parameters), "printable"));
  CHECK(contains(error_of({{std::string(256, 'x')}}, parameters), "longer than 255"));
  CHECK(contains(error_of({{"a", 1'000'001}}, parameters), "weight of 'a' is 1000001"));
  CHECK(contains(error_of({{"a", 20'000}, {"b", 20'000}}, parameters), "add up to 40000"));
  CHECK(error_of({{"a", 0}, {"b", 0}}, parameters) == "every member has weight 0");
  std::vector<RingMember> many;
  for (size_t m = 0; m <= kMembersMax; ++m) many.push_back({"m" + std::to_string(m)});
  CHECK(contains(error_of(many, parameters), "4097 members"));
}

TEST_CASE("claim: what is wrong with the parameters is said") {
  const std::vector<RingMember> members{{"a"}};
  CHECK(contains(error_of(members, {"roulette", 16, 3, 1}), "unknown placement policy 'roulette'"));
  for (const uint32_t partitions : {0u, 3u, 4095u, 131'072u}) {
    CHECK(contains(error_of(members, {"token-ring", partitions, 3, 1}), "power of two"));
  }
  CHECK(error_of(members, {"token-ring", 65'536, 16, 1}).empty());
  CHECK(contains(error_of(members, {"token-ring", 16, 0, 1}), "replication must be 1 to 16"));
  CHECK(contains(error_of(members, {"token-ring", 16, 17, 1}), "replication must be 1 to 16"));
  CHECK(contains(error_of(members, {"token-ring", 16, 3, 0}), "epochs begin at 1"));
  const auto previous = next_table(nullptr, members, {"token-ring", 16, 3, 1});
  CHECK(contains(error_of(members, {"token-ring", 32, 3, 2}, &*previous), "16 cannot become 32"));
}

TEST_CASE("claim: only the policies this program knows are policies") {
  CHECK(is_policy("token-ring"));
  CHECK_FALSE(is_policy(""));
  CHECK_FALSE(is_policy("Token-Ring"));
}

TEST_CASE("claim: fewer members than replicas make short lists that say so") {
  const auto table =
      next_table(nullptr, std::vector<RingMember>{{"a"}, {"b"}}, {"token-ring", 8, 3, 1});
  REQUIRE(table.has_value());
  for (uint32_t p = 0; p < 8; ++p) CHECK(table->owners(p).size() == 2);
  CHECK(table->shortfall() == 8);
}

TEST_CASE("claim: a partition's epoch moves only when its owners do, by name") {
  const auto first = next_table(nullptr, std::vector<RingMember>{{"m2"}, {"m3"}, {"m4"}},
                                {"token-ring", 256, 2, 5});
  REQUIRE(first.has_value());
  for (uint32_t p = 0; p < 256; ++p) CHECK(first->changed_at(p) == 5);

  // The newcomer sorts before the others, so every index shifts; the names are what counts.
  const auto second = next_table(&*first, std::vector<RingMember>{{"m1"}, {"m2"}, {"m3"}, {"m4"}},
                                 {"token-ring", 256, 2, 6});
  REQUIRE(second.has_value());
  int moved = 0;
  for (uint32_t p = 0; p < 256; ++p) {
    const auto was = first->owners(p);
    const auto is = second->owners(p);
    bool same = true;
    for (size_t i = 0; i < 2; ++i) same &= first->members()[was[i]] == second->members()[is[i]];
    CHECK(second->changed_at(p) == (same ? 5 : 6));
    moved += !same;
  }
  CHECK(moved > 64);
  CHECK(moved < 192);

  // A member without weight changes nothing.
  const auto third =
      next_table(&*second, std::vector<RingMember>{{"m0", 0}, {"m1"}, {"m2"}, {"m3"}, {"m4"}},
                 {"token-ring", 256, 2, 7});
  REQUIRE(third.has_value());
  for (uint32_t p = 0; p < 256; ++p) CHECK(third->changed_at(p) == second->changed_at(p));
}

TEST_CASE("claim: a smaller replication changes every partition") {
  const std::vector<RingMember> members{{"a"}, {"b"}, {"c"}};
  const auto first = next_table(nullptr, members, {"token-ring", 16, 3, 1});
  const auto second = next_table(&*first, members, {"token-ring", 16, 2, 2});
  REQUIRE(second.has_value());
  for (uint32_t p = 0; p < 16; ++p) CHECK(second->changed_at(p) == 2);
}

}  // namespace
}  // namespace torc::placement
