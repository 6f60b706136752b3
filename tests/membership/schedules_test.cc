// DialSchedule, PushPullSchedule and RelayedPings: who is due when.
#include <doctest/doctest.h>

#include <limits>

#include "membership/dial_schedule.h"
#include "membership/push_pull_schedule.h"
#include "membership/relayed_pings.h"

namespace torc::membership {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart{seconds(100)};
constexpr NodeId kOne{1};
constexpr NodeId kTwo{2};

std::vector<Duration> dials_within(DialSchedule& schedule, Duration duration) {
  std::vector<Duration> dials;
  while (schedule.next_deadline() <= kStart + duration) {
    const Instant now = schedule.next_deadline();
    for (size_t i = 0; i < schedule.on_time(now).size(); ++i) dials.push_back(now - kStart);
  }
  return dials;
}

}  // namespace

TEST_CASE(
    "dial schedule: a new member is called at once, every second for ten seconds, then rarely") {
  DialSchedule schedule(seconds(30));
  CHECK(schedule.next_deadline() == kNever);
  schedule.add_new(kOne, kStart);
  std::vector<Duration> expected;
  for (int i = 0; i <= 10; ++i) expected.push_back(seconds(i));
  expected.push_back(seconds(40));
  expected.push_back(seconds(70));
  CHECK(dials_within(schedule, seconds(99)) == expected);
}

TEST_CASE("dial schedule: a dead member is called every redial interval, until it is removed") {
  DialSchedule schedule(seconds(30));
  schedule.add_dead(kOne, kStart);
  CHECK(dials_within(schedule, seconds(65)) == std::vector<Duration>{seconds(30), seconds(60)});
  schedule.remove(kOne);
  CHECK(schedule.next_deadline() == kNever);
}

TEST_CASE(
    "dial schedule: a hint that somebody lives brings the call forward, once a second at most") {
  DialSchedule schedule(seconds(30));
  schedule.add_dead(kOne, kStart);
  schedule.hurry(kOne, kStart + seconds(2));
  CHECK(schedule.next_deadline() == kStart + seconds(2));
  CHECK(schedule.on_time(kStart + seconds(2)) == std::vector<NodeId>{kOne});
  schedule.hurry(kOne, kStart + milliseconds(2100));
  CHECK(schedule.next_deadline() == kStart + seconds(3));
  schedule.hurry(kTwo, kStart);
  CHECK(schedule.on_time(kStart + seconds(3)) == std::vector<NodeId>{kOne});
}

TEST_CASE("push-pull schedule: the interval is stretched with every doubling above 32 members") {
  struct Case {
    size_t members;
    int factor;
  };
  for (const Case& c : {Case{1, 1}, Case{32, 1}, Case{33, 2}, Case{64, 2}, Case{65, 3},
                        Case{128, 3}, Case{1024, 6}}) {
    CAPTURE(c.members);
    CHECK(push_pull_interval(seconds(30), c.members) == seconds(30) * c.factor);
  }
}

TEST_CASE("push-pull schedule: wanted ones come in order, five a second at most, and only once") {
  PushPullSchedule schedule;
  CHECK(schedule.next_deadline() == kNever);
  schedule.want(kOne, kStart);
  schedule.want(kTwo, kStart);
  schedule.want(kOne, kStart);
  CHECK(schedule.next_deadline() == kStart);
  CHECK(schedule.pop_wanted(kStart) == kOne);
  CHECK(schedule.pop_wanted(kStart) == std::nullopt);
  CHECK(schedule.next_deadline() == kStart + milliseconds(200));
  CHECK(schedule.pop_wanted(kStart + milliseconds(200)) == kTwo);
  CHECK(schedule.next_deadline() == kNever);
  schedule.want(kOne, kStart + seconds(9));
  CHECK(schedule.next_deadline() == kStart + seconds(9));
  schedule.drop(kOne);
  CHECK(schedule.pop_wanted(kStart + seconds(9)) == std::nullopt);
}

TEST_CASE("push-pull schedule: the periodic one comes about every interval") {
  PushPullSchedule schedule;
  CHECK_FALSE(schedule.is_periodic_due(kStart));
  schedule.start(seconds(30), 12'000'000, kStart);
  CHECK(schedule.next_deadline() == kStart + seconds(12));
  CHECK_FALSE(schedule.is_periodic_due(kStart + seconds(11)));
  const uint64_t randoms[] = {0, 1, 7'499'999, 7'500'000, std::numeric_limits<uint64_t>::max()};
  Instant now = schedule.next_deadline();
  for (const uint64_t random : randoms) {
    CHECK(schedule.is_periodic_due(now));
    schedule.schedule_periodic(seconds(30), random, now);
    CHECK_FALSE(schedule.is_periodic_due(now));
    const Duration gap = schedule.next_deadline() - now;
    CHECK(gap >= milliseconds(26250));
    CHECK(gap <= milliseconds(33750));
    now = schedule.next_deadline();
  }
}

TEST_CASE("push-pull schedule: answers are limited per second") {
  PushPullSchedule schedule;
  for (uint32_t i = 0; i < kPushPullAnswersPerSecondMax; ++i) CHECK(schedule.may_answer(kStart));
  CHECK_FALSE(schedule.may_answer(kStart + milliseconds(999)));
  CHECK(schedule.may_answer(kStart + seconds(1)));
}

TEST_CASE("relayed pings: the ack is passed on once, and only the target's") {
  RelayedPings relays(milliseconds(400), seconds(1));
  relays.open(5, {kOne, {}, 77}, kStart);
  CHECK_FALSE(relays.on_ack(kTwo, 5).has_value());
  CHECK_FALSE(relays.on_ack(kOne, 6).has_value());
  const auto ping = relays.on_ack(kOne, 5);
  REQUIRE(ping.has_value());
  CHECK(ping->requester_sequence == 77);
  CHECK_FALSE(relays.on_ack(kOne, 5).has_value());
  CHECK(relays.next_deadline() == kNever);
}

TEST_CASE("relayed pings: silence gets one nack, and a late ack is still passed on") {
  RelayedPings relays(milliseconds(400), seconds(1));
  relays.open(5, {kOne, {}, 77}, kStart);
  CHECK(relays.next_deadline() == kStart + milliseconds(400));
  CHECK(relays.on_time(kStart + milliseconds(399)).empty());
  REQUIRE(relays.on_time(kStart + milliseconds(400)).size() == 1);
  CHECK(relays.on_time(kStart + milliseconds(401)).empty());
  CHECK(relays.next_deadline() == kStart + seconds(1));
  CHECK(relays.on_ack(kOne, 5).has_value());
}

TEST_CASE("relayed pings: they are forgotten after the interval, and their number is limited") {
  RelayedPings relays(milliseconds(400), seconds(1), 2);
  relays.open(5, {kOne, {}, 1}, kStart);
  CHECK_FALSE(relays.full());
  relays.open(6, {kOne, {}, 2}, kStart);
  CHECK(relays.full());
  relays.on_time(kStart + seconds(1));
  CHECK_FALSE(relays.full());
  CHECK_FALSE(relays.on_ack(kOne, 5).has_value());
}

}  // namespace torc::membership
