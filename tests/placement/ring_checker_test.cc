#include "placement/ring_checker.h"

#include "tests/placement/table_fixture.h"

namespace torc::placement {
namespace {

std::vector<CheckedMember> all_live(const Members& members) {
  std::vector<CheckedMember> checked;
  for (const RingMember& member : members) checked.push_back({member, true});
  return checked;
}

const Members kRacked{{"a", 1, "r1"}, {"b", 1, "r1"}, {"c", 1, "r2"},
                      {"d", 1, "r2"}, {"e", 1, "r3"}, {"f", 1, "r3"}};

// A sound table with some rows replaced.
RingSnapshot with_rows(const RingSnapshot& ring,
                       const std::map<uint32_t, std::vector<MemberIndex>>& rows) {
  std::vector<MemberIndex> owners;
  std::vector<uint8_t> counts;
  for (uint32_t p = 0; p < ring.partitions(); ++p) {
    const auto found = rows.find(p);
    std::vector<MemberIndex> row(ring.owners(p).begin(), ring.owners(p).end());
    if (found != rows.end()) row = found->second;
    counts.push_back(static_cast<uint8_t>(row.size()));
    row.resize(ring.replication());
    owners.insert(owners.end(), row.begin(), row.end());
  }
  return RingSnapshot(ring.partitions(), ring.replication(), ring.members(), owners, counts,
                      std::vector<uint64_t>(ring.partitions(), 1));
}

bool says(const std::vector<std::string>& violations, const std::string& sentence) {
  return std::find(violations.begin(), violations.end(), sentence) != violations.end();
}

TEST_CASE("ring checker: a table of any policy has no violations under its own policy") {
  for (const std::string_view policy : policy_names()) {
    for (const Members& members : {kRacked, numbered(40), numbered(1), numbered(2)}) {
      const RingSnapshot ring = next(nullptr, members, {std::string(policy), 256, 3, 1});
      const auto violations =
          check_table(ring, all_live(members),
                      {.policy = std::string(policy), .digest = ring.placement_digest()});
      CHECK_MESSAGE(violations.empty(), policy, ": ", violations.empty() ? "" : violations[0]);
    }
  }
}

TEST_CASE("ring checker: every partition has N distinct live owners, or is named") {
  const RingSnapshot ring = next(nullptr, kRacked, {"balanced", 16, 3, 1});
  const auto broken = with_rows(ring, {{3, {0, 0, 2}}, {5, {0, 2}}});
  const auto violations = check_table(broken, all_live(kRacked), {.policy = "balanced"});
  CHECK(says(violations, "partition 3 names the owner 'a' twice"));
  CHECK(says(violations, "partition 5 has 2 owners; the members allow 3"));

  auto members = all_live(kRacked);
  members[4].is_live = false;
  const auto dead = check_table(with_rows(ring, {{7, {0, 2, 4}}}), members, {.policy = "balanced"});
  CHECK(says(dead, "partition 7 has the owner 'e', who is not live"));

  members = all_live(kRacked);
  members.erase(members.begin());
  const auto gone = check_table(with_rows(ring, {{2, {0, 2, 4}}}), members, {.policy = "balanced"});
  CHECK(says(gone, "partition 2 has the owner 'a', who is no member"));

  members = all_live(kRacked);
  members[2].member.weight = 0;
  const auto weightless =
      check_table(with_rows(ring, {{2, {0, 2, 4}}}), members, {.policy = "balanced"});
  CHECK(says(weightless, "partition 2 has the owner 'c', whose weight is 0"));
}

TEST_CASE("ring checker: racks respected, or the partition and the rack are named") {
  const RingSnapshot ring = next(nullptr, kRacked, {"balanced", 16, 3, 1});
  const auto violations =
      check_table(with_rows(ring, {{9, {2, 3, 0}}}), all_live(kRacked), {.policy = "balanced"});
  CHECK(says(violations, "partition 9 has more than 1 owners in the rack 'r2'"));
}

TEST_CASE("ring checker: balance within the policy's bound, or the member is named") {
  const Members members = numbered(4);
  const RingSnapshot ring = next(nullptr, members, {"token-ring", 64, 1, 1});
  REQUIRE_FALSE(is_within_one(ring, members));
  CHECK(check_table(ring, all_live(members), {.policy = "token-ring"}).empty());
  const auto uneven = check_table(ring, all_live(members), {.policy = "balanced"});
  REQUIRE_FALSE(uneven.empty());
  CHECK(uneven[0].find("its share is 16.0, and balanced allows 16 to 16") != std::string::npos);

  std::map<uint32_t, std::vector<MemberIndex>> all_to_one;
  for (uint32_t p = 0; p < 64; ++p) all_to_one[p] = {0};
  const auto piled = with_rows(ring, all_to_one);
  CHECK(says(check_table(piled, all_live(members), {.policy = "token-ring"}),
             "member 'm1' owns 64 partitions; its share is 16.0, and token-ring allows 0 to 62"));
  CHECK(says(check_table(piled, all_live(members), {.policy = "bounded-rendezvous"}),
             "member 'm1' owns 64 partitions; its share is 16.0, and bounded-rendezvous allows 0 "
             "to 17"));
}

TEST_CASE("ring checker: a table that fails its digest is named with both digests") {
  const RingSnapshot ring = next(nullptr, numbered(3), {"balanced", 16, 3, 1});
  const auto violations =
      check_table(ring, all_live(numbered(3)), {.policy = "balanced", .digest = 0xabc});
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].starts_with("the table's digest is "));
  CHECK(violations[0].ends_with(", not 0000000000000abc"));
}

TEST_CASE("ring checker: what it cannot judge by it says: policy and members") {
  const RingSnapshot ring = next(nullptr, numbered(3), {"balanced", 16, 3, 1});
  CHECK(says(check_table(ring, all_live(numbered(3)), {.policy = "roulette"}),
             "unknown placement policy 'roulette'"));
  CHECK(says(check_table(ring, {}, {.policy = "balanced"}), "no members"));
  CHECK(says(check_table(ring, all_live({{"a"}, {"a"}}), {.policy = "balanced"}),
             "two members are named 'a'"));
}

TEST_CASE("ring checker: a table with nothing right in it gives a limited number of sentences") {
  const RingSnapshot ring = next(nullptr, numbered(3), {"balanced", 4096, 3, 1});
  const auto violations = check_table(ring, all_live(numbered(3, "other")),
                                      {.policy = "balanced", .violations_max = 10});
  REQUIRE(violations.size() == 11);
  // Three owners in each partition who are no members, and three members who own nothing.
  CHECK(violations[10] == "and 12281 more violations");
}

TEST_CASE("ring checker: all daemons report the same epoch and digest, or the odd one is named") {
  const std::string digest(16, 'a');
  std::vector<DaemonView> daemons{
      {"n1", {{7, digest}}}, {"n2", {{7, digest}}}, {"n3", {{7, digest}}}};
  CHECK(check_agreement(daemons).empty());
  daemons[1].ring->epoch = 6;
  CHECK(check_agreement(daemons) ==
        std::vector<std::string>{"daemon 'n2' is in epoch 6, not in epoch 7 as the others"});
  daemons[1].ring = DaemonView::Ring{7, "bbbb"};
  CHECK(check_agreement(daemons) ==
        std::vector<std::string>{"daemon 'n2' reports the digest bbbb, not " + digest +
                                 " as the others"});
  daemons[1].ring.reset();
  CHECK(check_agreement(daemons) == std::vector<std::string>{"daemon 'n2' does not answer"});
  CHECK(check_agreement({}) == std::vector<std::string>{"there is no daemon to ask"});
  // Of two the newer is right.
  daemons = {{"n1", {{8, digest}}}, {"n2", {{7, digest}}}};
  CHECK(check_agreement(daemons) ==
        std::vector<std::string>{"daemon 'n2' is in epoch 7, not in epoch 8 as the others"});
}

}  // namespace
}  // namespace torc::placement
