#include "storage/hlc.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>

namespace torc::storage {
namespace {

TEST_CASE("hlc: follows the wall clock, and counts when the wall clock stands still") {
  Hlc clock;
  CHECK(clock.tick(1000) == Hlc::from_ms(1000));
  CHECK(clock.tick(1000) == Hlc::from_ms(1000) + 1);
  CHECK(clock.tick(1001) == Hlc::from_ms(1001));
}

TEST_CASE("hlc: a wall clock that jumps back does not take it along") {
  Hlc clock;
  const uint64_t before = clock.tick(5000);
  CHECK(clock.tick(10) == before + 1);
  CHECK(clock.tick(-1) == before + 2);
}

TEST_CASE("hlc: the counter carries into the milliseconds") {
  Hlc clock;
  clock.observe(Hlc::from_ms(7) + 0xffff);
  CHECK(clock.tick(0) == Hlc::from_ms(8));
  CHECK(Hlc::to_ms(clock.read(0)) == 8);
}

TEST_CASE("hlc: reading advances nothing") {
  Hlc clock;
  clock.observe(100);
  CHECK(clock.read(0) == 100);
  CHECK(clock.read(3) == Hlc::from_ms(3));
  CHECK(clock.tick(0) == 101);
}

TEST_CASE("hlc: stands still at the end of time rather than wrap to its beginning") {
  Hlc clock;
  clock.observe(std::numeric_limits<uint64_t>::max());
  CHECK(clock.tick(0) == std::numeric_limits<uint64_t>::max());
  CHECK(clock.tick(std::numeric_limits<int64_t>::max()) == std::numeric_limits<uint64_t>::max());
}

TEST_CASE("hlc: every tick is above all earlier ticks and observations") {
  CHECK(rc::check("monotonic", [](const std::vector<std::pair<bool, uint32_t>>& events) {
    Hlc clock;
    uint64_t newest = 0;
    for (const auto& [is_tick, time] : events) {
      if (is_tick) {
        const uint64_t ticked = clock.tick(time);
        RC_ASSERT(ticked > newest || newest == 0);
        RC_ASSERT(ticked >= Hlc::from_ms(time));
        newest = ticked;
      } else {
        clock.observe(time);
        newest = std::max<uint64_t>(newest, time);
      }
      RC_ASSERT(clock.read(0) == newest);
    }
  }));
}

}  // namespace
}  // namespace torc::storage
