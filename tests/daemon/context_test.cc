#include "daemon/node/context.h"

#include <doctest/doctest.h>

#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

TEST_CASE("context: every message says who sends it, from where, and what time it is there") {
  Bench bench(2);
  pb::Envelope message;
  message.mutable_open_writes();
  bench.context.send(peer_of(1), Channel::kStream, message);
  REQUIRE(bench.env.sent.size() == 1);
  const pb::Envelope& sent = bench.env.sent[0].message;
  CHECK(sent.from() == id_of(2).value);
  CHECK(Address::from_bytes(sent.sender()) == peer_of(2));
  CHECK(sent.hlc() >= storage::Hlc::from_ms(bench.context.now.wall_ms));
}

TEST_CASE(
    "context: without gossip's word the topology tells addresses, and nobody but self is alive") {
  Bench bench;
  bench.context.view = joined(*founded(), {2});
  CHECK(bench.context.address_of(id_of(1)) == peer_of(1));
  CHECK(bench.context.address_of(id_of(2)) == peer_of(2));
  CHECK(bench.context.client_address_of(id_of(2)) == client_of(2));
  CHECK(!bench.context.address_of(id_of(9)));
  CHECK(bench.context.liveness_of(id_of(1)) == membership::Liveness::kAlive);
  CHECK(bench.context.liveness_of(id_of(2)) == membership::Liveness::kDead);
  CHECK(bench.context.name_of(id_of(2)) == "n2");
  CHECK(bench.context.name_of(id_of(9)) == id_of(9).to_string());
}

TEST_CASE("context: other clocks are followed, except those that are too far ahead to be one") {
  Bench bench;
  const uint64_t own = bench.context.hlc.read(bench.context.now.wall_ms);
  const uint64_t lead_max = storage::Hlc::from_ms(kClockLeadMsMax);
  CHECK(bench.context.observe(0));
  CHECK(bench.context.observe(own + lead_max));
  CHECK(bench.context.hlc.read(bench.context.now.wall_ms) == own + lead_max);
  CHECK(!bench.context.observe(~uint64_t{0}));
  CHECK(!bench.context.observe(own + 2 * lead_max + 1));
  CHECK(bench.context.hlc.read(bench.context.now.wall_ms) == own + lead_max);
}

TEST_CASE("context: an alarm is raised once, and their number is bounded") {
  Bench bench;
  bench.context.alarm("smoke");
  bench.context.alarm("smoke");
  CHECK(bench.context.metrics.alarms == 1);
  CHECK(bench.env.logged_at(LogLevel::kError) == 1);
  for (size_t i = 0; i < 2 * kAlarmsMax; ++i) bench.context.alarm("fire " + std::to_string(i));
  CHECK(bench.context.alarms.size() == kAlarmsMax);
}

}  // namespace
}  // namespace torc::node
