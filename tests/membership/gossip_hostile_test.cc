// One Gossip among strangers, liars and garbage: what it ignores, and what it never gives.
#include <doctest/doctest.h>

#include "tests/membership/lone_gossip.h"

namespace torc::membership {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("gossip: an address that is not known to be the sender's gets an ack and no more") {
  LoneGossip lone;
  lone.befriend(2);
  for (uint64_t id = 3; id < 20; ++id) lone.befriend(id);
  const size_t bytes_asked = ping(1).ByteSizeLong();
  for (const uint64_t from : {2, 99}) {
    lone.forget_sent();
    lone.receive(from, ping(1), kNowhere);
    REQUIRE(lone.packets.size() == 1);
    CHECK(lone.packets[0].second.rumors().empty());
    // The epoch and digest, which the ping came without.
    CHECK(lone.packets[0].second.ByteSizeLong() <= bytes_asked + 11);
  }
  lone.forget_sent();
  lone.receive(2, {}, kNowhere);
  CHECK(lone.packets.empty());
}

TEST_CASE("gossip: nobody can point it at a stranger, and strangers get no help") {
  LoneGossip lone;
  lone.befriend(2);
  pb::GossipPacket request;
  request.mutable_ping_request()->set_sequence(88);
  request.mutable_ping_request()->set_target(66);
  request.mutable_ping_request()->set_peer(kNowhere.to_bytes());
  lone.receive(2, request, info(2).peer);
  request.mutable_ping_request()->set_target(2);
  lone.receive(66, request, info(66).peer);
  CHECK(lone.packets.empty());
  CHECK(lone.gossip.counters().malformed == 0);
  request.mutable_ping_request()->set_peer("junk");
  lone.receive(2, request, info(2).peer);
  CHECK(lone.packets.empty());
  CHECK(lone.gossip.counters().malformed == 1);
}

TEST_CASE("gossip: malformed contents are counted, and the rest of the packet still counts") {
  LoneGossip lone;
  lone.befriend(2);
  pb::GossipPacket packet = ping(1);
  packet.add_rumors()->set_id(7);
  encode({info(3, 1), {}}, packet.add_rumors());
  lone.receive(2, packet, info(2).peer);
  CHECK(lone.gossip.counters().malformed == 1);
  CHECK(lone.gossip.find(NodeId{7}) == nullptr);
  CHECK(lone.gossip.find(NodeId{3}) != nullptr);
  CHECK(lone.packets.size() == 1);

  lone.forget_sent();
  lone.receive(0, ping(1), info(2).peer);
  lone.receive(1, ping(1), info(2).peer);
  lone.receive(2, ping(1), Address{});
  CHECK(lone.gossip.counters().malformed == 4);
  CHECK(lone.packets.empty());
}

TEST_CASE("gossip: random packets neither crash it nor make it grow") {
  LoneGossip lone;
  lone.befriend(2);
  std::mt19937_64 engine(5);
  for (int i = 0; i < 20000; ++i) {
    pb::GossipPacket packet;
    for (uint64_t n = engine() % 3; n > 0; --n) {
      pb::MemberState* state = packet.add_rumors();
      MemberInfo member = info(1 + engine() % 5000, engine() % 4);
      member.liveness = static_cast<Liveness>(engine() % 4);
      encode({member, NodeId{engine() % 9}}, state);
      if (engine() % 8 == 0) state->set_peer("x");
    }
    switch (engine() % 5) {
      case 0:
        packet.mutable_ping()->set_target(engine() % 3);
        break;
      case 1:
        packet.mutable_ack()->set_sequence(static_cast<uint32_t>(engine()));
        break;
      case 2:
        packet.mutable_ping_request()->set_target(engine() % 5000);
        packet.mutable_ping_request()->set_peer(kNowhere.to_bytes());
        break;
      case 3:
        packet.mutable_nack()->set_sequence(static_cast<uint32_t>(engine()));
        break;
      default:
        break;
    }
    lone.receive(engine() % 5000, packet, info(engine() % 5000).peer);
    lone.advance(milliseconds(engine() % 3));
    lone.forget_sent();
  }
  CHECK(lone.gossip.members().size() <= 1025);
  CHECK(lone.gossip.counters().malformed > 0);
}

TEST_CASE("gossip: strangers that are gone make room for new ones") {
  LoneGossip lone;
  for (uint64_t id = 100; id < 100 + 1024; ++id) lone.hear(2, info(id, 1));
  lone.hear(2, info(5000, 1));
  CHECK(lone.gossip.find(NodeId{5000}) == nullptr);
  lone.hear(2, info(100, 1, Liveness::kLeft));
  lone.hear(2, info(5000, 1));
  CHECK(lone.gossip.find(NodeId{5000}) != nullptr);
  CHECK(lone.gossip.find(NodeId{100}) == nullptr);
  lone.advance(seconds(5));
  CHECK(lone.gossip.members().size() == 1024);
}

TEST_CASE("gossip: a removed member is forgotten, and neither its words nor words about it count") {
  LoneGossip lone;
  lone.befriend(2);
  lone.befriend(3);
  lone.gossip.remove_member(NodeId{2});
  lone.forget_sent();
  CHECK(lone.gossip.find(NodeId{2}) == nullptr);
  lone.hear(3, info(2, 9));
  CHECK(lone.gossip.find(NodeId{2}) == nullptr);
  lone.receive(2, ping(1), info(2).peer);
  CHECK(lone.packets.empty());
  lone.advance(seconds(40));
  for (const auto& [to, packet] : lone.packets) CHECK(to != info(2).peer);
  CHECK(lone.changes.size() > 0);  // member 3 fell silent meanwhile
  for (const MemberInfo& change : lone.changes) CHECK(change.id == NodeId{3});
}

}  // namespace torc::membership
