#include "daemon/node/clock_keeper.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;

// The ceiling that the disk was asked to store, and the answer given to the keeper.
uint64_t proposed_ceiling(const DataEnv& env) {
  REQUIRE(env.submitted.size() == 1);
  const auto& write = std::get<storage::WriteMeta>(env.submitted[0].op);
  REQUIRE(write.values.size() == 1);
  CHECK(write.values[0].first == ClockKeeper::kCeilingName);
  return ClockKeeper::decode_ceiling(write.values[0].second).value();
}

TEST_CASE("clock keeper: it mints nothing until its first ceiling is durable") {
  DataEnv env;
  ClockKeeper clock(env.context);
  clock.start(0);
  CHECK_FALSE(clock.mint().has_value());
  CHECK(proposed_ceiling(env) == Hlc::from_ms(DataEnv::kStartWallMs) + Hlc::from_ms(60'000));
  CHECK(clock.on_storage_done(0, {}));
  const auto first = clock.mint();
  const auto second = clock.mint();
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(*second > *first);
}

TEST_CASE(
    "clock keeper: after a restart it starts above the stored ceiling, even if the wall clock went "
    "back") {
  DataEnv env;
  const uint64_t stored = Hlc::from_ms(DataEnv::kStartWallMs + 45'000);
  ClockKeeper clock(env.context);
  clock.start(stored);
  CHECK_FALSE(clock.mint().has_value());
  CHECK(proposed_ceiling(env) > stored);
  CHECK(clock.on_storage_done(0, {}));
  CHECK(clock.mint().value() > stored);
}

TEST_CASE("clock keeper: the ceiling is raised in time, so that minting does not wait") {
  DataEnv env;
  CHECK(env.clock.mint().has_value());
  CHECK(env.submitted.empty());
  env.wait_ms(29'000);
  CHECK(env.clock.mint().has_value());
  CHECK(env.submitted.empty());
  env.wait_ms(2'000);
  CHECK(env.clock.mint().has_value());  // does not wait for the disk
  CHECK(env.submitted.size() == 1);
  CHECK(env.clock.mint().has_value());
  CHECK(env.submitted.size() == 1);  // one write at a time
  env.run_storage();
  CHECK(env.clock.mint().has_value());
  CHECK(env.submitted.empty());
}

TEST_CASE(
    "clock keeper: when another clock pushed it past the ceiling, it waits for a higher one") {
  DataEnv env;
  const uint64_t far = Hlc::from_ms(DataEnv::kStartWallMs) + Hlc::from_ms(3'600'000);
  env.context.hlc.observe(far);
  CHECK_FALSE(env.clock.mint().has_value());
  CHECK(proposed_ceiling(env) == far + Hlc::from_ms(60'000));
  env.run_storage();
  CHECK(env.clock.mint().value() > far);
}

TEST_CASE("clock keeper: never does it mint above what is durable") {
  DataEnv env;
  const uint64_t ceiling = Hlc::from_ms(DataEnv::kStartWallMs + 60'000);
  env.context.hlc.observe(ceiling - 2);
  CHECK(env.clock.mint() == ceiling - 1);
  CHECK(env.clock.mint() == ceiling);
  CHECK_FALSE(env.clock.mint().has_value());
}

TEST_CASE("clock keeper: a disk that refuses is asked again by the next mint, not in a loop") {
  DataEnv env;
  ClockKeeper clock(env.context);
  clock.start(0);
  env.submitted.clear();
  CHECK_FALSE(clock.on_storage_done(0, {0, Status(StatusCode::kIoError, "broken"), {}}));
  CHECK(env.submitted.empty());
  CHECK_FALSE(clock.mint().has_value());
  CHECK(env.submitted.size() == 1);
  CHECK(clock.on_storage_done(0, {}));
  CHECK(clock.mint().has_value());
}

TEST_CASE("clock keeper: at the end of time it stops minting rather than repeat itself") {
  DataEnv env;
  env.context.hlc.observe(UINT64_MAX);
  CHECK_FALSE(env.clock.mint().has_value());
  CHECK(proposed_ceiling(env) == UINT64_MAX);
  env.run_storage();
  CHECK_FALSE(env.clock.mint().has_value());
}

TEST_CASE("clock keeper: only eight bytes are a stored ceiling") {
  CHECK_FALSE(ClockKeeper::decode_ceiling("").has_value());
  CHECK_FALSE(ClockKeeper::decode_ceiling("1234567").has_value());
  CHECK(ClockKeeper::decode_ceiling(std::string("\x01\0\0\0\0\0\0\x02", 8)) == 0x0200000000000001);
}

}  // namespace
}  // namespace torc::node
