// The simulator's smallest parts: chance, time and the names of the faults.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/sim/event_queue.h"
#include "tests/sim/faults.h"
#include "tests/sim/random.h"
#include "tests/sim/wall_clock.h"

namespace torc::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("random: a fork depends on seed and purpose, not on what was drawn before") {
  Random a(7);
  Random b(7);
  b.next();
  CHECK(a.fork("disk").next() == b.fork("disk").next());
  CHECK(a.fork("disk").next() != a.fork("network").next());
  CHECK(a.fork("node", 0).next() != a.fork("node", 1).next());
  CHECK(Random(7).next() != Random(8).next());
}

TEST_CASE("random: the numbers are the same for ever, or every known seed would mean another run") {
  Random random(1);
  CHECK(random.next() == 0xb3f2af6d0fc710c5);
  CHECK(random.fork("network").next() == Random(1).fork("network").next());
}

TEST_CASE("random: a range reaches both its ends and nothing beyond") {
  Random random(3);
  std::set<int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random.range(-2, 2));
  CHECK(seen == std::set<int64_t>{-2, -1, 0, 1, 2});
  CHECK_FALSE(random.chance(0));
  CHECK(random.chance(1'000'000));
}

TEST_CASE("event queue: events run by time, equal times in the order they were set") {
  EventQueue queue;
  std::string order;
  queue.after(milliseconds(2), [&] { order += 'c'; });
  queue.after(milliseconds(1), [&] { order += 'a'; });
  queue.after(milliseconds(1), [&] {
    order += 'b';
    queue.after(Duration(0), [&] { order += 'x'; });
  });
  queue.run_until(Instant{milliseconds(1)});
  CHECK(order == "abx");
  CHECK(queue.now() == Instant{milliseconds(1)});
  queue.run_until(Instant{milliseconds(5)});
  CHECK(order == "abxc");
  CHECK(queue.now() == Instant{milliseconds(5)});
  CHECK(queue.executed() == 4);
}

TEST_CASE("wall clock: it is off, drifts, jumps and can be put right") {
  WallClock clock(1500, 1000);
  const Instant later{seconds(100)};
  CHECK(clock.ms(Instant{}) == WallClock::kStartMs + 1500);
  CHECK(clock.ms(later) == WallClock::kStartMs + 1500 + 100'100);
  clock.jump(-3000);
  CHECK(clock.ms(Instant{}) == WallClock::kStartMs - 1500);
  clock.correct();
  CHECK(clock.ms(later) == WallClock::kStartMs + 100'000);
}

TEST_CASE("faults: a list names its kinds, and a stranger is refused in words") {
  CHECK(FaultSet::parse("all")->count() == kFaultKinds);
  CHECK(FaultSet::parse("none")->count() == 0);
  const auto two = FaultSet::parse("crash,slow-disk");
  REQUIRE(two.has_value());
  CHECK(two->has(FaultKind::kCrash));
  CHECK(two->has(FaultKind::kSlowDisk));
  CHECK(two->count() == 2);
  CHECK(two->to_string() == "crash,slow-disk");
  const auto stranger = FaultSet::parse("crash,flood");
  REQUIRE_FALSE(stranger.has_value());
  CHECK(stranger.error().find("'flood'") != std::string::npos);
  CHECK(stranger.error().find("partition") != std::string::npos);
  CHECK_FALSE(FaultSet::parse("").has_value());
}

}  // namespace
}  // namespace torc::sim
