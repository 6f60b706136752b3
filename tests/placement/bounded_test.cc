#include "placement/bounded.h"

#include <cmath>

#include "placement/bounded_choice.h"
#include "tests/placement/table_fixture.h"

namespace torc::placement {
namespace {

const char* const kBounded[] = {"bounded-token-ring", "bounded-rendezvous"};

bool is_under_bound(const RingSnapshot& ring, const Members& members, uint32_t percent) {
  const Members sorted = by_name(members);
  const auto bounds =
      load_bounds(sorted, RackRule(sorted, ring.replication()), ring.partitions(), percent);
  const auto owned = ring.owned_counts();
  for (size_t m = 0; m < owned.size(); ++m) {
    if (owned[m] > bounds[m]) return false;
  }
  return true;
}

TEST_CASE("bounded load: no member above ceil((1+eps) x its share), and no list shorter for it") {
  CHECK(rc::check([] {
    const Members members = *any_members(12, 5, 4);
    const auto percent = static_cast<uint32_t>(*rc::gen::inRange(100, 150));
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 5));
    for (const char* policy : kBounded) {
      const RingSnapshot ring = next(nullptr, members,
                                     {.policy = policy,
                                      .partitions = 64,
                                      .replication = replication,
                                      .load_percent = percent});
      RC_ASSERT(broken_row(ring, members).empty());
      RC_ASSERT(is_under_bound(ring, members, percent));
    }
  }));
}

TEST_CASE(
    "bounded load: 100 members, eps .05: max/mean 1.06, where the unbounded have 1.13 and more") {
  for (const char* policy : kBounded) {
    const Members members = numbered(100);
    const RingSnapshot ring = next(nullptr, members, {policy, 4096, 3, 1});
    const auto owned = ring.owned_counts();
    CHECK(*std::max_element(owned.begin(), owned.end()) == std::ceil(1.05 * 4096 * 3 / 100));
    const RingSnapshot plain = next(nullptr, members, {std::string(policy).substr(8), 4096, 3, 1});
    const auto most = plain.owned_counts();
    CHECK(*std::max_element(most.begin(), most.end()) > 1.1 * 4096 * 3 / 100);
  }
}

TEST_CASE("bounded load: the overflow walks on: with a wide bound nothing overflows") {
  for (const char* policy : kBounded) {
    const Members members = numbered(20);
    const RingSnapshot ring =
        next(nullptr, members,
             {.policy = policy, .partitions = 512, .replication = 3, .load_percent = 1000});
    const RingSnapshot plain = next(nullptr, members, {std::string(policy).substr(8), 512, 3, 1});
    CHECK(ring.placement_digest() == plain.placement_digest());
  }
}

TEST_CASE("bounded load: the limit is a percentage from 100 to 1000") {
  for (const uint32_t percent : {0u, 99u, 1001u}) {
    const auto made =
        next_table(nullptr, numbered(3),
                   {.policy = "bounded-rendezvous", .partitions = 16, .load_percent = percent});
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error() ==
          "the load limit must be 100 to 1000 percent of a share, not " + std::to_string(percent));
  }
}

TEST_CASE("bounded choice: the first preference-list member under the bound") {
  const std::vector<MemberIndex> list{2, 0, 1};
  // 12 in progress over 4 members: with this one 13, 3.25 each, 4.0625 with 25 % more: 5.
  std::vector<uint64_t> busy{1, 3, 5, 3};
  CHECK(first_under_bound(list, {busy, {}, 125}) == 0);
  busy = {1, 4, 4, 3};
  CHECK(first_under_bound(list, {busy, {}, 125}) == 2);
  busy = {0, 0, 0, 0};
  CHECK(first_under_bound(list, {busy, {}, 100}) == 2);
}

TEST_CASE("bounded choice: a bound follows the weight, and weight 0 is never chosen") {
  const std::vector<MemberIndex> list{0, 1};
  const std::vector<uint64_t> busy{5, 5};
  CHECK(first_under_bound(list, {busy, std::vector<uint32_t>{1, 9}, 100}) == 1);
  CHECK(first_under_bound(list, {busy, std::vector<uint32_t>{0, 1}, 100}) == 1);
}

TEST_CASE("bounded choice: when the whole list is at its bound there is no choice") {
  const std::vector<uint64_t> busy{9, 9, 0, 0, 0, 0};
  CHECK(first_under_bound(std::vector<MemberIndex>{0, 1}, {busy, {}, 125}) == std::nullopt);
  CHECK(first_under_bound({}, {busy, {}, 125}) == std::nullopt);
}

TEST_CASE("bounded choice: requests of one hot partition never pile up above the bound") {
  std::vector<uint64_t> busy(10, 0);
  const std::vector<MemberIndex> list{4, 7, 1, 0, 2, 3, 5, 6, 8, 9};
  for (uint64_t total = 0; total < 1000; ++total) {
    const auto chosen = first_under_bound(list, {busy, {}, 125});
    REQUIRE(chosen.has_value());
    ++busy[*chosen];
    REQUIRE(busy[*chosen] <= load_bound(total, 1, 10, 125));
  }
  CHECK(*std::max_element(busy.begin(), busy.end()) == 125);
}

}  // namespace
}  // namespace torc::placement
