#include "membership/member_table.h"

#include <doctest/doctest.h>

#include <string>

namespace torc::membership {
namespace {

using Outcome = MemberTable::Outcome;

constexpr Instant kStart{std::chrono::seconds(100)};
constexpr Instant kLater{std::chrono::seconds(200)};

MemberInfo info(uint64_t id, uint64_t incarnation = 0, Liveness liveness = Liveness::kAlive,
                uint16_t port = 7101) {
  MemberInfo member;
  member.id = NodeId{id};
  member.name = "n" + std::to_string(id);
  member.peer = Address::parse("127.0.0.1:" + std::to_string(port)).value();
  member.client = member.peer;
  member.incarnation = incarnation;
  member.liveness = liveness;
  return member;
}

Rumor rumor(uint64_t id, uint64_t incarnation, Liveness liveness, uint16_t port = 7101) {
  return {info(id, incarnation, liveness, port), {}};
}

}  // namespace

TEST_CASE("member table: what a rumor changes is told apart") {
  using enum Liveness;
  struct Case {
    Rumor rumor;
    Outcome outcome;
    Liveness after;
  };
  const Case story[] = {
      {rumor(1, 5, kAlive), Outcome::kLearnt, kAlive},
      {rumor(1, 5, kAlive), Outcome::kOld, kAlive},
      {rumor(1, 4, kDead), Outcome::kStale, kAlive},
      {rumor(1, 5, kSuspect), Outcome::kChanged, kSuspect},
      {rumor(1, 5, kAlive), Outcome::kStale, kSuspect},
      {rumor(1, 6, kSuspect), Outcome::kRenewed, kSuspect},
      {rumor(1, 6, kDead), Outcome::kChanged, kDead},
      {rumor(1, 7, kAlive), Outcome::kChanged, kAlive},
      {rumor(1, 8, kAlive), Outcome::kRenewed, kAlive},
      {rumor(1, 9, kAlive, 9000), Outcome::kChanged, kAlive},
      {rumor(1, 9, kLeft, 9000), Outcome::kChanged, kLeft},
  };
  MemberTable table;
  for (const Case& c : story) {
    CAPTURE(c.rumor.member.incarnation);
    CAPTURE(to_string(c.rumor.member.liveness));
    CHECK(table.apply(c.rumor, kStart) == c.outcome);
    CHECK(table.find(NodeId{1})->liveness == c.after);
  }
  CHECK(table.find(NodeId{1})->peer.port == 9000);
}

TEST_CASE("member table: since is when the liveness changed last") {
  MemberTable table;
  table.apply(rumor(1, 5, Liveness::kAlive), kStart);
  table.apply(rumor(1, 6, Liveness::kAlive, 9000), kLater);
  CHECK(table.find(NodeId{1})->since == kStart);
  table.apply(rumor(1, 6, Liveness::kSuspect, 9000), kLater);
  CHECK(table.find(NodeId{1})->since == kLater);
}

TEST_CASE("member table: a stranger is learnt alive or suspect, but not dead or gone") {
  MemberTable table;
  CHECK(table.apply(rumor(1, 1, Liveness::kDead), kStart) == Outcome::kOld);
  CHECK(table.apply(rumor(2, 1, Liveness::kLeft), kStart) == Outcome::kOld);
  CHECK(table.apply(rumor(3, 1, Liveness::kSuspect), kStart) == Outcome::kLearnt);
  CHECK(table.list().size() == 1);
  CHECK(table.is_live(NodeId{3}));
  CHECK(table.live_count() == 1);
}

TEST_CASE("member table: a member of the topology starts dead until it is heard") {
  MemberTable table;
  CHECK(table.add_named(info(1, 0, Liveness::kAlive), kStart));
  CHECK(table.find(NodeId{1})->liveness == Liveness::kDead);
  CHECK(table.live_count() == 0);
  CHECK(table.apply(rumor(1, 1, Liveness::kAlive), kLater) == Outcome::kChanged);
  CHECK_FALSE(table.add_named(info(1), kLater));
  CHECK(table.find(NodeId{1})->liveness == Liveness::kAlive);
}

TEST_CASE("member table: the topology's address counts until the member itself is heard") {
  MemberTable table;
  table.add_named(info(1, 0, Liveness::kAlive, 7000), kStart);
  table.add_named(info(1, 0, Liveness::kAlive, 7500), kStart);
  CHECK(table.find(NodeId{1})->peer.port == 7500);
  table.apply(rumor(1, 1, Liveness::kAlive, 8000), kStart);
  table.add_named(info(1, 0, Liveness::kAlive, 7000), kStart);
  CHECK(table.find(NodeId{1})->peer.port == 8000);
}

TEST_CASE(
    "member table: strangers are bounded, members of the topology are not counted among them") {
  MemberTable table(2);
  table.add_named(info(10), kStart);
  CHECK(table.apply(rumor(1, 1, Liveness::kAlive), kStart) == Outcome::kLearnt);
  CHECK(table.apply(rumor(2, 1, Liveness::kAlive), kStart) == Outcome::kLearnt);
  CHECK(table.is_full_of_strangers());
  CHECK(table.apply(rumor(3, 1, Liveness::kAlive), kStart) == Outcome::kOld);
  CHECK(table.find(NodeId{3}) == nullptr);

  // Once the topology names one of them, there is room.
  table.add_named(info(1), kStart);
  CHECK(table.find(NodeId{1})->liveness == Liveness::kAlive);
  CHECK(table.apply(rumor(3, 1, Liveness::kAlive), kStart) == Outcome::kLearnt);
  table.forget(NodeId{2});
  CHECK(table.apply(rumor(4, 1, Liveness::kAlive), kStart) == Outcome::kLearnt);
  CHECK(table.add_named(info(11), kStart));
}

TEST_CASE("member table: the stranger that is gone for longest is the one to forget") {
  MemberTable table(3);
  table.add_named(info(9), Instant{});
  CHECK_FALSE(table.longest_gone_stranger());
  for (uint64_t id = 1; id <= 3; ++id) table.apply(rumor(id, 1, Liveness::kAlive), kStart);
  CHECK_FALSE(table.longest_gone_stranger());
  table.apply(rumor(1, 1, Liveness::kDead), kLater);
  table.apply(rumor(2, 1, Liveness::kLeft), kStart);
  CHECK(table.longest_gone_stranger() == NodeId{2});
}

TEST_CASE("member table: of a banned member nothing is heard, until the topology names it again") {
  MemberTable table;
  table.add_named(info(1), kStart);
  table.forget(NodeId{1});
  table.ban(NodeId{1});
  CHECK(table.is_banned(NodeId{1}));
  CHECK(table.apply(rumor(1, 7, Liveness::kAlive), kStart) == Outcome::kOld);
  CHECK(table.find(NodeId{1}) == nullptr);
  table.add_named(info(1), kStart);
  CHECK_FALSE(table.is_banned(NodeId{1}));
  CHECK(table.apply(rumor(1, 7, Liveness::kAlive), kStart) == Outcome::kChanged);
}

TEST_CASE("member table: the memory of banned members is bounded, the oldest go first") {
  MemberTable table(1024, 2);
  for (uint64_t id = 1; id <= 3; ++id) table.ban(NodeId{id});
  CHECK_FALSE(table.is_banned(NodeId{1}));
  CHECK(table.is_banned(NodeId{2}));
  CHECK(table.is_banned(NodeId{3}));
}

}  // namespace torc::membership
