#include "membership/failure_detector.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace torc::membership {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart{seconds(100)};

struct FakeHost final : ProbeHost {
  bool may_probe(NodeId id) const override { return !dead.contains(id); }
  std::vector<NodeId> helpers(NodeId target, size_t count) override {
    std::vector<NodeId> ids;
    for (const NodeId id : members) {
      if (id != target && ids.size() < count) ids.push_back(id);
    }
    return ids;
  }
  uint32_t ping(NodeId target) override {
    pinged.push_back(target);
    return ++sequence;
  }
  void ask_to_ping(NodeId helper, NodeId target, uint32_t asked_sequence) override {
    REQUIRE(!pinged.empty());
    CHECK(target == pinged.back());
    CHECK(asked_sequence == sequence);
    asked.push_back(helper);
  }
  void on_silence(const Silence& silence, Instant) override { silent.push_back(silence); }
  uint64_t random() override { return engine(); }

  std::mt19937_64 engine{1};
  std::vector<NodeId> members;
  std::set<NodeId> dead;
  uint32_t sequence = 0;
  std::vector<NodeId> pinged;
  std::vector<NodeId> asked;
  std::vector<Silence> silent;
};

struct Probing {
  explicit Probing(uint64_t members) {
    for (uint64_t id = 1; id <= members; ++id) {
      host.members.push_back(NodeId{id});
      detector.add(NodeId{id});
    }
    detector.start(kStart);
    now = detector.next_deadline();
    CHECK(now <= kStart + seconds(1));
    detector.on_time(now);
  }
  void advance(Duration duration) {
    const Instant end = now + duration;
    while (detector.next_deadline() <= end) {
      now = detector.next_deadline();
      detector.on_time(now);
    }
    now = end;
  }
  void answer() { detector.on_ack(host.pinged.back(), host.sequence); }

  FakeHost host;
  FailureDetector detector{seconds(1), milliseconds(500), 3, host};
  Instant now;
};

}  // namespace

TEST_CASE("failure detector: a member that answers the direct ping is left in peace") {
  Probing probing(5);
  REQUIRE(probing.host.pinged.size() == 1);
  probing.advance(milliseconds(499));
  probing.answer();
  probing.advance(milliseconds(501));
  CHECK(probing.host.asked.empty());
  CHECK(probing.host.silent.empty());
  CHECK(probing.host.pinged.size() == 2);
}

TEST_CASE(
    "failure detector: helpers are asked after the timeout, and the verdict ends the interval") {
  Probing probing(5);
  probing.advance(milliseconds(499));
  CHECK(probing.host.asked.empty());
  probing.advance(milliseconds(1));
  CHECK(probing.host.asked.size() == 3);
  probing.advance(milliseconds(499));
  CHECK(probing.host.silent.empty());
  probing.advance(milliseconds(1));
  REQUIRE(probing.host.silent.size() == 1);
  CHECK(probing.host.silent[0].target == probing.host.pinged[0]);
  CHECK(probing.host.silent[0].helpers == 3);
  CHECK(probing.host.silent[0].nacks == 0);
}

TEST_CASE("failure detector: an ack that comes through a helper, or late, is good enough") {
  Probing probing(5);
  probing.advance(milliseconds(600));
  probing.detector.on_ack(probing.host.asked[1], probing.host.sequence);
  probing.advance(milliseconds(400));
  CHECK(probing.host.silent.empty());
  probing.advance(milliseconds(999));
  probing.answer();
  probing.advance(milliseconds(1));
  CHECK(probing.host.silent.empty());
}

TEST_CASE("failure detector: nacks are counted once per helper and save nobody") {
  Probing probing(5);
  probing.advance(milliseconds(600));
  for (int i = 0; i < 2; ++i) {
    probing.detector.on_nack(probing.host.asked[0], probing.host.sequence);
  }
  probing.detector.on_nack(probing.host.asked[2], probing.host.sequence);
  probing.advance(milliseconds(400));
  REQUIRE(probing.host.silent.size() == 1);
  CHECK(probing.host.silent[0].nacks == 2);
}

TEST_CASE("failure detector: acks of other probes and from other members count for nothing") {
  Probing probing(5);
  const NodeId target = probing.host.pinged.back();
  probing.detector.on_ack(target, probing.host.sequence + 1);
  probing.detector.on_ack(target, probing.host.sequence - 1);
  probing.detector.on_ack(NodeId{99}, probing.host.sequence);
  probing.detector.on_nack(NodeId{99}, probing.host.sequence);
  probing.advance(seconds(1));
  CHECK(probing.host.silent.size() == 1);
  // The answer comes after the verdict, when the next probe runs.
  probing.detector.on_ack(target, 1);
  probing.advance(seconds(1));
  CHECK(probing.host.silent.size() == 2);
}

TEST_CASE("failure detector: every member is probed once per round, each round in another order") {
  Probing probing(10);
  for (int i = 0; i < 39; ++i) {
    probing.answer();
    probing.advance(seconds(1));
  }
  REQUIRE(probing.host.pinged.size() == 40);
  std::set<std::vector<NodeId>> orders;
  for (int round = 0; round < 4; ++round) {
    const auto first = probing.host.pinged.begin() + round * 10;
    CHECK(std::set<NodeId>(first, first + 10).size() == 10);
    orders.insert({first, first + 10});
  }
  CHECK(orders.size() == 4);
}

TEST_CASE("failure detector: a new member is probed within the running round") {
  Probing probing(10);
  probing.detector.add(NodeId{11});
  for (int i = 0; i < 10; ++i) {
    probing.answer();
    probing.advance(seconds(1));
  }
  CHECK(std::count(probing.host.pinged.begin(), probing.host.pinged.end(), NodeId{11}) == 1);
}

TEST_CASE("failure detector: those that may not be probed are skipped, and nobody at all is fine") {
  Probing probing(4);
  probing.host.dead = {NodeId{1}, NodeId{2}, NodeId{3}};
  probing.answer();
  probing.host.pinged.clear();
  probing.advance(seconds(3));
  CHECK(probing.host.pinged == std::vector<NodeId>(3, NodeId{4}));
  probing.host.dead.insert(NodeId{4});
  probing.advance(seconds(1));
  probing.host.silent.clear();
  probing.advance(seconds(5));
  CHECK(probing.host.pinged.size() == 3);
  CHECK(probing.host.silent.empty());
}

TEST_CASE("failure detector: a removed member gets no verdict, and the others are still probed") {
  Probing probing(3);
  const NodeId removed = probing.host.pinged.back();
  probing.detector.remove(removed);
  probing.detector.remove(NodeId{77});
  probing.advance(seconds(1));
  CHECK(probing.host.silent.empty());
  probing.advance(seconds(4));
  const auto& pinged = probing.host.pinged;
  CHECK(std::set<NodeId>(pinged.begin() + 1, pinged.end()).size() == 2);
  CHECK(std::count(pinged.begin() + 1, pinged.end(), removed) == 0);
}

TEST_CASE("failure detector: who has overslept judges nobody and probes afresh") {
  Probing probing(3);
  probing.now += seconds(20);
  probing.detector.overslept(probing.now);
  probing.detector.on_time(probing.now);
  CHECK(probing.host.silent.empty());
  CHECK(probing.host.asked.empty());
  CHECK(probing.host.pinged.size() == 2);
}

}  // namespace torc::membership
