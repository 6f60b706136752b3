#include "placement/transfer_plan.h"

#include "tests/placement/table_fixture.h"

namespace torc::placement {
namespace {

RingSnapshot two_rows(std::vector<std::string> members, std::vector<MemberIndex> owners,
                      uint32_t replication, std::vector<uint8_t> counts) {
  return RingSnapshot(2, replication, std::move(members), std::move(owners), std::move(counts),
                      {1, 1});
}

TEST_CASE("transfer plan: per partition who gains and who loses, which member replaces which") {
  const RingSnapshot before = two_rows({"a", "b", "c"}, {0, 1, 2, 0, 1, 2}, 3, {3, 3});
  const RingSnapshot after = two_rows({"b", "c", "d", "e"}, {2, 0, 1, 0, 3, 1}, 3, {3, 3});
  const auto plan = transfer_plan(before, after);
  REQUIRE(plan.has_value());
  REQUIRE(plan->partitions.size() == 2);
  CHECK(plan->partitions[0].partition == 0);
  CHECK(plan->partitions[0].replacements == std::vector<Replacement>{{"a", "d"}});
  // e does not stand where a stood; it still is the only one who can replace it.
  CHECK(plan->partitions[1].replacements == std::vector<Replacement>{{"a", "e"}});
  CHECK(plan->partitions[1].gainers() == std::vector<std::string>{"e"});
  CHECK(plan->partitions[1].losers() == std::vector<std::string>{"a"});
}

TEST_CASE("transfer plan: totals per member in and out") {
  const RingSnapshot before = two_rows({"a", "b", "c"}, {0, 1, 2, 0, 1, 2}, 3, {3, 3});
  const RingSnapshot after = two_rows({"b", "c", "d", "e"}, {2, 0, 1, 0, 3, 1}, 3, {3, 3});
  const auto plan = transfer_plan(before, after);
  REQUIRE(plan.has_value());
  std::string totals;
  for (const MemberTransfer& m : plan->members) {
    totals += m.name + " " + std::to_string(m.in) + "/" + std::to_string(m.out) + "; ";
  }
  CHECK(totals == "a 0/2; b 0/0; c 0/0; d 1/0; e 1/0; ");
  CHECK(plan->moved == 2);
  CHECK(plan->lost == 2);
}

TEST_CASE("transfer plan: an owner that comes where another stood replaces it, not its neighbour") {
  const RingSnapshot before = two_rows({"a", "b"}, {0, 1, 0, 1}, 2, {2, 2});
  const RingSnapshot after = two_rows({"c", "d"}, {1, 0, 0, 1}, 2, {2, 2});
  const auto plan = transfer_plan(before, after);
  REQUIRE(plan.has_value());
  CHECK(plan->partitions[0].replacements == std::vector<Replacement>{{"a", "d"}, {"b", "c"}});
  CHECK(plan->partitions[1].replacements == std::vector<Replacement>{{"a", "c"}, {"b", "d"}});
}

TEST_CASE("transfer plan: a row that grows or shrinks has replacements with one side") {
  const RingSnapshot one = two_rows({"a", "b"}, {0, 0, 1, 0}, 2, {1, 1});
  const RingSnapshot two = two_rows({"a", "b"}, {1, 0, 1, 0}, 2, {2, 2});
  const auto grows = transfer_plan(one, two);
  REQUIRE(grows.has_value());
  CHECK(grows->partitions[0].replacements == std::vector<Replacement>{{"", "b"}});
  CHECK(grows->moved == 2);
  CHECK(grows->lost == 0);
  const auto shrinks = transfer_plan(two, one);
  REQUIRE(shrinks.has_value());
  CHECK(shrinks->partitions[0].replacements == std::vector<Replacement>{{"b", ""}});
  CHECK(shrinks->partitions[0].gainers().empty());
  CHECK(shrinks->moved == 0);
  CHECK(shrinks->lost == 2);
}

TEST_CASE("transfer plan: another order of the same owners moves nothing") {
  const auto plan = transfer_plan(two_rows({"a", "b"}, {0, 1, 1, 0}, 2, {2, 2}),
                                  two_rows({"a", "b"}, {1, 0, 0, 1}, 2, {2, 2}));
  REQUIRE(plan.has_value());
  CHECK(plan->partitions.empty());
  CHECK(plan->moved == 0);
}

TEST_CASE("transfer plan: tables of different sizes are refused") {
  const auto plan = transfer_plan(next(nullptr, {{"a"}}, {"balanced", 2, 1, 1}),
                                  next(nullptr, {{"a"}}, {"balanced", 4, 1, 1}));
  REQUIRE_FALSE(plan.has_value());
  CHECK(plan.error() == "a table of 2 partitions cannot become one of 4");
}

TEST_CASE("transfer plan: it turns every old table into the new one") {
  CHECK(rc::check([] {
    const Members before_members = *any_members(9, 3, 3);
    const Members after_members = *any_members(9, 3, 3);
    const RingSnapshot before = next(nullptr, before_members, {"balanced", 32, 3, 1});
    const RingSnapshot after = next(&before, after_members, {"balanced", 32, 3, 2});
    const auto plan = transfer_plan(before, after);
    RC_ASSERT(plan.has_value());
    uint64_t in = 0, out = 0;
    for (const MemberTransfer& member : plan->members) {
      in += member.in;
      out += member.out;
    }
    RC_ASSERT(in == plan->moved);
    RC_ASSERT(out == plan->lost);
    RC_ASSERT(plan->moved == moved(before, after));
    std::vector<std::multiset<std::string>> rows(32);
    for (uint32_t p = 0; p < 32; ++p) {
      const auto row = names(before, p);
      rows[p] = {row.begin(), row.end()};
    }
    for (const PartitionTransfer& transfer : plan->partitions) {
      for (const auto& name : transfer.losers())
        RC_ASSERT(rows[transfer.partition].erase(name) == 1);
      for (const auto& name : transfer.gainers()) rows[transfer.partition].insert(name);
    }
    for (uint32_t p = 0; p < 32; ++p) {
      const auto row = names(after, p);
      RC_ASSERT(rows[p] == std::multiset<std::string>(row.begin(), row.end()));
    }
  }));
}

}  // namespace
}  // namespace torc::placement
