// One Gossip alone, packet by packet: what it answers, to whom, and what it passes on.
#include <doctest/doctest.h>

#include "tests/membership/lone_gossip.h"

namespace torc::membership {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("gossip: a ping is answered where it came from, with the topology's epoch and digest") {
  LoneGossip lone;
  lone.befriend(2);
  lone.receive(2, ping(1), info(2).peer);
  REQUIRE(lone.packets.size() == 1);
  CHECK(lone.packets[0].first == info(2).peer);
  CHECK(lone.packets[0].second.ack().sequence() == 77);
  CHECK(lone.packets[0].second.topology_epoch() == 4);
  CHECK(lone.packets[0].second.topology_digest() == 0xd1);
  lone.gossip.set_topology(5, 0xd2);
  lone.receive(2, ping(1), info(2).peer);
  CHECK(lone.packets.back().second.topology_epoch() == 5);
}

TEST_CASE("gossip: a ping for somebody else is not answered") {
  LoneGossip lone;
  lone.befriend(2);
  lone.receive(2, ping(3), info(2).peer);
  lone.receive(2, ping(0), info(2).peer);
  CHECK(lone.packets.empty());
}

TEST_CASE("gossip: a new member of the topology is dialled, and told who calls") {
  LoneGossip lone;
  lone.advance(milliseconds(10));
  lone.gossip.add_member(info(2), lone.now);
  REQUIRE(lone.changes.size() == 1);
  CHECK(lone.changes[0].liveness == Liveness::kDead);
  lone.advance(milliseconds(1));
  REQUIRE_FALSE(lone.packets.empty());
  CHECK(lone.packets[0].second.ping().target() == 2);
  CHECK(lone.told(info(2).peer, 1)->incarnation == 10);
  REQUIRE(lone.push_pulls.size() == 1);
  CHECK(lone.push_pulls[0].first == info(2).peer);
  CHECK_FALSE(lone.push_pulls[0].second.reply());
}

TEST_CASE("gossip: self and nobody cannot be added") {
  LoneGossip lone;
  lone.gossip.add_member(info(1), lone.now);
  lone.gossip.add_member(info(0), lone.now);
  CHECK(lone.gossip.members().empty());
  CHECK(lone.gossip.self().id == NodeId{1});
  CHECK(lone.gossip.self().liveness == Liveness::kAlive);
}

TEST_CASE("gossip: who hears itself accused refutes above the accusation, at once") {
  LoneGossip lone;
  lone.befriend(2);
  lone.hear(2, info(1, 10, Liveness::kSuspect), NodeId{3});
  CHECK(lone.gossip.self().incarnation == 11);
  CHECK(lone.told(info(2).peer, 1)->incarnation == 11);
  lone.hear(2, info(1, 500, Liveness::kDead), NodeId{3});
  CHECK(lone.gossip.self().incarnation == 501);
  lone.hear(2, info(1, 900, Liveness::kLeft));
  CHECK(lone.gossip.self().incarnation == 901);
  CHECK(lone.gossip.counters().refutations == 3);
  lone.forget_sent();
  lone.advance(milliseconds(20));
  CHECK(lone.told(info(2).peer, 1)->incarnation == 901);
}

TEST_CASE("gossip: an old accusation is answered, but costs no new incarnation") {
  LoneGossip lone;
  lone.befriend(2);
  lone.hear(2, info(1, 9, Liveness::kDead), NodeId{3});
  CHECK(lone.gossip.self().incarnation == 10);
  CHECK(lone.told(info(2).peer, 1)->liveness == Liveness::kAlive);
}

TEST_CASE("gossip: a member held dead is told so when it speaks, and is alive once it refutes") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  lone.hear(3, info(2, 5, Liveness::kDead), NodeId{3});
  CHECK(lone.gossip.find(NodeId{2})->liveness == Liveness::kDead);
  lone.forget_sent();
  lone.receive(2, ping(1), info(2).peer);
  REQUIRE(lone.told(info(2).peer, 2).has_value());
  CHECK(lone.told(info(2).peer, 2)->liveness == Liveness::kDead);
  lone.forget_sent();
  lone.hear(2, info(2, 5));  // stale
  CHECK(lone.told(info(2).peer, 2)->liveness == Liveness::kDead);
  lone.hear(2, info(2, 6));
  CHECK(lone.gossip.find(NodeId{2})->liveness == Liveness::kAlive);
}

TEST_CASE("gossip: if somebody says alive of the dead, the dead is called at once") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  lone.hear(3, info(2, 5, Liveness::kDead), NodeId{3});
  lone.advance(seconds(3));
  lone.forget_sent();
  lone.hear(3, info(2, 5));
  lone.advance(milliseconds(1));
  CHECK(lone.told(info(2).peer, 2)->liveness == Liveness::kDead);
  CHECK(lone.told(info(2).peer, 1)->liveness == Liveness::kAlive);
}

TEST_CASE(
    "gossip: a suspect is dead after the timeout, unless it comes with a higher incarnation") {
  for (const bool refutes : {false, true}) {
    CAPTURE(refutes);
    LoneGossip lone;
    lone.befriend(2);
    lone.befriend(3);
    lone.hear(3, info(2, 5, Liveness::kSuspect), NodeId{3});
    CHECK(lone.gossip.find(NodeId{2})->liveness == Liveness::kSuspect);
    lone.advance(milliseconds(3990));
    CHECK(lone.gossip.find(NodeId{2})->liveness == Liveness::kSuspect);
    if (refutes) lone.hear(3, info(2, 6));
    lone.advance(milliseconds(20));
    CHECK(lone.gossip.find(NodeId{2})->liveness == (refutes ? Liveness::kAlive : Liveness::kDead));
  }
}

TEST_CASE("gossip: who has slept judges nobody before it has listened") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  lone.hear(2, info(3, 5, Liveness::kSuspect), NodeId{2});
  while (lone.packets.empty() || !lone.packets.back().second.has_ping()) {
    lone.advance(milliseconds(10));
  }
  const NodeId probed{lone.packets.back().second.ping().target()};
  const Liveness before = lone.gossip.find(probed)->liveness;
  lone.now += seconds(20);
  lone.gossip.on_time(lone.now);
  CHECK(lone.gossip.find(probed)->liveness == before);
  CHECK(lone.gossip.find(NodeId{3})->liveness == Liveness::kSuspect);
  CHECK(lone.gossip.counters().suspicions == 0);
  // Then the suspect has the rest of its time.
  lone.advance(seconds(5));
  CHECK(lone.gossip.find(NodeId{3})->liveness == Liveness::kDead);
}

TEST_CASE("gossip: a whole state casts suspicion, but kills nobody") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  pb::PushPull state;
  encode({info(2, 5, Liveness::kDead), NodeId{3}}, state.add_members());
  encode({info(4, 1), {}}, state.add_members());
  lone.gossip.on_push_pull(NodeId{3}, info(3).peer, state, lone.now);
  CHECK(lone.gossip.find(NodeId{2})->liveness == Liveness::kSuspect);
  CHECK(lone.gossip.find(NodeId{4})->liveness == Liveness::kAlive);
  REQUIRE(lone.push_pulls.size() == 1);
  CHECK(lone.push_pulls[0].first == info(3).peer);
  CHECK(lone.push_pulls[0].second.reply());
  CHECK(lone.push_pulls[0].second.topology_digest() == 0xd1);
  CHECK(lone.push_pulls[0].second.members_size() == 4);
  // An answer is not answered.
  state.set_reply(true);
  lone.gossip.on_push_pull(NodeId{3}, info(3).peer, state, lone.now);
  CHECK(lone.push_pulls.size() == 1);
}

TEST_CASE("gossip: a ping for another is passed on, and so is its ack; silence becomes a nack") {
  for (const bool answers : {true, false}) {
    CAPTURE(answers);
    LoneGossip lone;
    lone.befriend(2);
    lone.befriend(3);
    pb::GossipPacket request;
    request.mutable_ping_request()->set_sequence(88);
    request.mutable_ping_request()->set_target(3);
    request.mutable_ping_request()->set_peer(info(3).peer.to_bytes());
    lone.receive(2, request, info(2).peer);
    REQUIRE(lone.packets.size() == 1);
    CHECK(lone.packets[0].first == info(3).peer);
    CHECK(lone.packets[0].second.ping().target() == 3);
    pb::GossipPacket ack;
    ack.mutable_ack()->set_sequence(lone.packets[0].second.ping().sequence());
    lone.forget_sent();
    if (answers) lone.receive(3, ack, info(3).peer);
    lone.advance(milliseconds(400));
    size_t acks = 0;
    size_t nacks = 0;
    for (const auto& [to, packet] : lone.packets) {
      if (to != info(2).peer) continue;
      acks += packet.ack().sequence() == 88;
      nacks += packet.nack().sequence() == 88;
    }
    CHECK(acks == (answers ? 1 : 0));
    CHECK(nacks == (answers ? 0 : 1));
  }
}

TEST_CASE("gossip: a change of address is reported, a mere new incarnation is not") {
  LoneGossip lone;
  lone.befriend(2);
  lone.hear(2, info(2, 6));
  CHECK(lone.changes.empty());
  MemberInfo moved = info(2, 7);
  moved.peer = kNowhere;
  lone.hear(2, moved);
  REQUIRE(lone.changes.size() == 1);
  CHECK(lone.changes[0].peer == kNowhere);
  CHECK(lone.changes[0].liveness == Liveness::kAlive);
}

TEST_CASE("gossip: its own id at another address is a twin, unless that was an earlier life") {
  LoneGossip lone;
  lone.befriend(2);
  MemberInfo elsewhere = info(1, 9);
  elsewhere.peer = kNowhere;
  lone.hear(2, elsewhere);
  CHECK(lone.twins.empty());
  lone.hear(2, info(1, 10));
  CHECK(lone.twins.empty());

  elsewhere.incarnation = 10;
  lone.hear(2, elsewhere);
  CHECK(lone.twins == std::vector<Address>{kNowhere});
  elsewhere.incarnation = 20;
  elsewhere.liveness = Liveness::kDead;
  lone.hear(2, elsewhere);
  CHECK(lone.twins.size() == 1);
}

TEST_CASE("gossip: who leaves says so to everybody and then keeps silent") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  lone.gossip.leave(lone.now);
  REQUIRE(lone.packets.size() == 2);
  CHECK(lone.told(info(2).peer, 1)->liveness == Liveness::kLeft);
  CHECK(lone.told(info(3).peer, 1)->liveness == Liveness::kLeft);
  lone.forget_sent();
  lone.hear(2, info(1, 10, Liveness::kLeft));
  lone.receive(2, ping(1), info(2).peer);
  lone.gossip.leave(lone.now);
  lone.gossip.on_time(lone.now + seconds(10));
  CHECK(lone.packets.empty());
  CHECK(lone.gossip.next_deadline() == kNever);
}

}  // namespace torc::membership
