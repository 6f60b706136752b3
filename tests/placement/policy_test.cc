#include "placement/policy.h"

#include <cmath>

#include "placement/modulo.h"
#include "tests/placement/table_fixture.h"

namespace torc::placement {
namespace {

std::string error_of(const Members& members, const ClaimParameters& parameters,
                     const RingSnapshot* previous = nullptr) {
  const auto table = next_table(previous, members, parameters);
  return table ? "" : table.error();
}

TEST_CASE("policies: the names are sorted, each is a policy, and no other name is") {
  const auto names = policy_names();
  CHECK(std::is_sorted(names.begin(), names.end()));
  for (const std::string_view name : names) CHECK(is_policy(name));
  for (const char* name : {"balanced", "rendezvous", "token-ring", "modulo", "bounded-token-ring",
                           "bounded-rendezvous", "rendezvous-rack-first"}) {
    CHECK(is_policy(name));
  }
  CHECK_FALSE(is_policy("Balanced"));
  CHECK_FALSE(is_policy("balanced "));
}

TEST_CASE("policies: R replicas = R distinct members, racks respected, whatever the members") {
  CHECK(rc::check([] {
    const auto members = *any_members(12, 5, 4);
    const auto partitions = uint32_t{1} << *rc::gen::inRange(0, 7);
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    for (const std::string_view policy : policy_names()) {
      const RingSnapshot ring =
          next(nullptr, members, {std::string(policy), partitions, replication, 1});
      const std::string broken = broken_row(ring, members);
      RC_ASSERT(broken == "");
    }
  }));
}

TEST_CASE("policies: the same table under any permutation of the members, from any table before") {
  CHECK(rc::check([] {
    const auto before = *any_members(8, 3, 3);
    const auto members = *any_members(8, 3, 3);
    auto shuffled = members;
    for (size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
    }
    for (const std::string_view policy : policy_names()) {
      const RingSnapshot ring = next(nullptr, before, {std::string(policy), 32, 3, 1});
      const ClaimParameters parameters{std::string(policy), 32, 3, 2};
      RC_ASSERT(next(&ring, members, parameters).encode() ==
                next(&ring, shuffled, parameters).encode());
    }
  }));
}

TEST_CASE("policies: fewer members than R: the short list and an explicit shortfall") {
  for (const std::string_view policy : policy_names()) {
    const std::string name(policy);
    const RingSnapshot one = next(nullptr, {{"only"}}, {name, 16, 3, 1});
    CHECK(one.owned_counts() == std::vector<uint32_t>{16});
    CHECK(one.shortfall() == 32);
    const RingSnapshot two = next(&one, {{"only"}, {"other"}}, {name, 16, 3, 2});
    CHECK(two.owned_counts() == std::vector<uint32_t>{16, 16});
    CHECK(two.shortfall() == 16);
    CHECK(error_of({}, {name, 16, 3, 1}) == "no members");
  }
}

TEST_CASE("policies: weight 0 owns nothing and stays a member; all of weight 0 is an error") {
  for (const std::string_view policy : policy_names()) {
    const std::string name(policy);
    const RingSnapshot ring = next(nullptr, {{"a"}, {"b"}, {"c", 0}}, {name, 16, 3, 1});
    CHECK(ring.members() == std::vector<std::string>{"a", "b", "c"});
    CHECK(ring.owned_counts() == std::vector<uint32_t>{16, 16, 0});
    CHECK(ring.shortfall() == 16);
    CHECK(error_of({{"a", 0}, {"b", 0}}, {name, 16, 3, 1}) == "every member has weight 0");
  }
}

TEST_CASE("policies: more racks than nodes is not an error: each node has its own") {
  for (const std::string_view policy : policy_names()) {
    const Members members{{"a", 1, "r1"}, {"b", 1, "r2"}, {"c", 0, "r3"}};
    const RingSnapshot ring = next(nullptr, members, {std::string(policy), 16, 3, 1});
    CHECK(broken_row(ring, members).empty());
    CHECK(ring.shortfall() == 16);
  }
}

TEST_CASE("policies: duplicate, empty and unprintable names are errors that name the culprit") {
  for (const std::string_view policy : policy_names()) {
    const ClaimParameters parameters{std::string(policy), 16, 3, 1};
    CHECK(error_of({{"b"}, {"a"}, {"b"}}, parameters) == "two members are named 'b'");
    CHECK(error_of({{"a"}, {""}}, parameters) == "a member without a name");
    CHECK(error_of({{"caf\xc3\xa9"}}, parameters) ==
          "the name 'caf\\xc3\\xa9' has bytes other than printable ASCII");
    CHECK(error_of({{std::string("a\0b", 3)}}, parameters) ==
          "the name 'a\\x00b' has bytes other than printable ASCII");
    CHECK(error_of({{"a b"}}, parameters) ==
          "the name 'a\\x20b' has bytes other than printable ASCII");
  }
}

TEST_CASE("policies: names with '#' are allowed, and no token of theirs is a neighbour's") {
  for (const std::string_view policy : policy_names()) {
    const Members members{{"a"}, {"a#1"}, {"#"}, {"a#"}};
    const RingSnapshot ring = next(nullptr, members, {std::string(policy), 1024, 1, 1});
    for (const uint32_t owned : ring.owned_counts()) CHECK(owned > 180);
  }
}

TEST_CASE("policies: absurd weights are errors; large ones are not, where no tokens are made") {
  for (const std::string_view policy : policy_names()) {
    const std::string name(policy);
    CHECK(error_of({{"a", 1'000'001}}, {name, 16, 3, 1}) ==
          "the weight of 'a' is 1000001; the most is 1000000");
    const std::string sum = error_of({{"a", 1'000'000}, {"b", 1'000'000}}, {name, 16, 3, 1});
    CHECK(sum == (has_tokens(name) ? "the weights add up to 2000000; the most is 31250" : ""));
  }
}

TEST_CASE("policies: a previous table of another P is an error that names both") {
  const RingSnapshot ring = next(nullptr, {{"a"}}, {"balanced", 16, 3, 1});
  for (const std::string_view policy : policy_names()) {
    CHECK(error_of({{"a"}}, {std::string(policy), 32, 3, 2}, &ring) ==
          "the number of partitions is fixed: 16 cannot become 32");
  }
}

TEST_CASE("policies: a previous table with members that no longer exist is no error") {
  const RingSnapshot ring = next(nullptr, numbered(9, "old"), {"balanced", 64, 3, 1});
  for (const std::string_view policy : policy_names()) {
    const Members members = numbered(5, "new");
    const RingSnapshot after = next(&ring, members, {std::string(policy), 64, 3, 2});
    CHECK(broken_row(after, members).empty());
    for (uint32_t p = 0; p < 64; ++p) CHECK(after.changed_at(p) == 2);
  }
}

TEST_CASE("policies: tokens derive from name and index only: a restart moves nothing") {
  for (const std::string_view policy : policy_names()) {
    const ClaimParameters parameters{std::string(policy), 256, 3, 1};
    CHECK(next(nullptr, numbered(7), parameters).encode() ==
          next(nullptr, numbered(7), parameters).encode());
  }
}

TEST_CASE("modulo: partition p belongs to the members at p, p+1, ... of the list") {
  const RingSnapshot ring = next(nullptr, {{"a"}, {"b", 2}, {"c"}}, {"modulo", 8, 2, 1});
  const std::vector<std::vector<std::string>> expected{{"a", "b"}, {"b", "c"}, {"b", "c"},
                                                       {"c", "a"}, {"a", "b"}, {"b", "c"},
                                                       {"b", "c"}, {"c", "a"}};
  for (uint32_t p = 0; p < 8; ++p) CHECK(names(ring, p) == expected[p]);
}

TEST_CASE("modulo: 10 -> 11 members moves 90.8 % of the partitions, the ring about 1/(N+1)") {
  const auto share_moved = [](const char* policy) {
    const RingSnapshot ten = next(nullptr, numbered(10, "node-0"), {policy, 65'536, 1, 1});
    // Placed last in the order of names, as an eleventh would be.
    Members eleven = numbered(10, "node-0");
    eleven.push_back({"node-1", 1, ""});
    const RingSnapshot more = next(nullptr, eleven, {policy, 65'536, 1, 1});
    return static_cast<double>(moved(ten, more)) / 65'536;
  };
  CHECK(std::abs(share_moved("modulo") - .908) < .003);
  CHECK(std::abs(share_moved("token-ring") - 1.0 / 11) < .02);
  CHECK(std::abs(share_moved("rendezvous") - 1.0 / 11) < .01);
}

TEST_CASE("shares: they follow the weights and add up to all there is to own") {
  CHECK(rc::check([] {
    const Members members = by_name(*any_members(12, 5, 9));
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    const RackRule racks(members, replication);
    const auto shares = fair_shares(members, racks, 256);
    double sum = 0;
    std::vector<double> in_rack(racks.count, 0);
    for (size_t m = 0; m < members.size(); ++m) {
      const double share =
          static_cast<double>(shares[m].numerator) / static_cast<double>(shares[m].denominator);
      RC_ASSERT(share <= 256);
      RC_ASSERT((share > 0) == (members[m].weight > 0));
      sum += share;
      in_rack[racks.of[m]] += share;
    }
    RC_ASSERT(std::abs(sum - 256.0 * racks.row_owners) < 1e-6);
    for (const double rack : in_rack) RC_ASSERT(rack <= 256.0 * racks.per_rack_max + 1e-6);
  }));
}

TEST_CASE("shares: water-filled where P or a rack caps them") {
  const auto shares = [](const Members& members, uint32_t replication) {
    std::string text;
    for (const Share& share : shares_of(members, 60, replication)) {
      text += std::to_string(share.numerator / share.denominator) + " ";
    }
    return text;
  };
  CHECK(shares({{"a"}, {"b"}, {"c"}, {"d"}}, 2) == "30 30 30 30 ");
  // a would own 96 of 60 partitions; the rest is shared by the others.
  CHECK(shares({{"a", 8}, {"b"}, {"c"}}, 2) == "60 30 30 ");
  // Three racks for three copies: each holds one of every partition.
  CHECK(shares({{"a", 1, "x"}, {"b", 2, "x"}, {"c", 1, "y"}, {"d", 1, "z"}}, 3) == "20 40 60 60 ");
  // Rack x would hold 72 of 60; what it cannot goes to the others.
  CHECK(shares({{"a", 1, "x"}, {"b", 2, "x"}, {"c", 1, "y"}, {"d", 1, "z"}}, 2) == "20 40 30 30 ");
}

}  // namespace
}  // namespace torc::placement
