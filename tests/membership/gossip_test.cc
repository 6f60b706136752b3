// One Gossip alone, packet by packet: what it answers, to whom, and what it ignores.
#include "membership/gossip.h"

#include <doctest/doctest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "membership/rumor.h"

namespace torc::membership {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

MemberInfo info(uint64_t id, uint64_t incarnation = 0, Liveness liveness = Liveness::kAlive) {
  MemberInfo member;
  member.id = NodeId{id};
  member.name = "n" + std::to_string(id);
  member.peer = Address::parse("127.0.0.1:" + std::to_string(7100 + id % 50000)).value();
  member.client = Address::parse("127.0.0.1:7001").value();
  member.incarnation = incarnation;
  member.liveness = liveness;
  return member;
}

const Address kNowhere = Address::parse("10.9.9.9:9").value();

// Gossip of member 1, with everything it sends.
struct Lone final : GossipEnv {
  Lone() {
    gossip.set_topology(4, 0xd1);
    gossip.start(now);
  }

  void send_packet(const Address& to, const pb::GossipPacket& packet) override {
    packets.emplace_back(to, packet);
  }
  void send_push_pull(const Address& to, const pb::PushPull& state) override {
    push_pulls.emplace_back(to, state);
  }
  uint64_t random() override { return engine(); }
  void on_member_changed(const MemberInfo& member) override { changes.push_back(member); }

  // A member known and alive.
  void befriend(uint64_t id) {
    gossip.add_member(info(id), now);
    hear(id, info(id, 5));
    forget_sent();
  }
  void hear(uint64_t from, const MemberInfo& rumor, NodeId accuser = {}) {
    pb::GossipPacket packet;
    encode({rumor, accuser}, packet.add_rumors());
    gossip.on_packet(NodeId{from}, info(from).peer, packet, now);
  }
  void receive(uint64_t from, const pb::GossipPacket& packet, const Address& sender) {
    gossip.on_packet(NodeId{from}, sender, packet, now);
  }
  void advance(Duration duration) {
    const Instant end = now + duration;
    while (gossip.next_deadline() <= end) {
      now = std::max(now, gossip.next_deadline());
      gossip.on_time(now);
    }
    now = end;
  }
  void forget_sent() {
    packets.clear();
    push_pulls.clear();
    changes.clear();
  }
  // What was sent to `to` about `id` last.
  std::optional<MemberInfo> told(const Address& to, uint64_t id) const {
    std::optional<MemberInfo> last;
    for (const auto& [address, packet] : packets) {
      for (const auto& state : packet.rumors()) {
        if (address == to && state.id() == id) last = decode(state)->member;
      }
    }
    return last;
  }

  std::mt19937_64 engine{1};
  Instant now{seconds(1000)};
  std::vector<std::pair<Address, pb::GossipPacket>> packets;
  std::vector<std::pair<Address, pb::PushPull>> push_pulls;
  std::vector<MemberInfo> changes;
  Gossip gossip{GossipConfig{}, info(1, 10), *this};
};

pb::GossipPacket ping(uint64_t target, uint32_t sequence = 77) {
  pb::GossipPacket packet;
  packet.mutable_ping()->set_sequence(sequence);
  packet.mutable_ping()->set_target(target);
  return packet;
}

}  // namespace

TEST_CASE("gossip: a ping is answered where it came from, with the topology's epoch and digest") {
  Lone lone;
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
  Lone lone;
  lone.befriend(2);
  lone.receive(2, ping(3), info(2).peer);
  lone.receive(2, ping(0), info(2).peer);
  CHECK(lone.packets.empty());
}

TEST_CASE("gossip: an address that is not known to be the sender's gets an ack and no more") {
  Lone lone;
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

TEST_CASE("gossip: a new member of the topology is dialled, and told who calls") {
  Lone lone;
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
  Lone lone;
  lone.gossip.add_member(info(1), lone.now);
  lone.gossip.add_member(info(0), lone.now);
  CHECK(lone.gossip.members().empty());
  CHECK(lone.gossip.self().id == NodeId{1});
  CHECK(lone.gossip.self().liveness == Liveness::kAlive);
}

TEST_CASE("gossip: who hears itself accused refutes above the accusation, at once") {
  Lone lone;
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
  Lone lone;
  lone.befriend(2);
  lone.hear(2, info(1, 9, Liveness::kDead), NodeId{3});
  CHECK(lone.gossip.self().incarnation == 10);
  CHECK(lone.told(info(2).peer, 1)->liveness == Liveness::kAlive);
}

TEST_CASE("gossip: a member held dead is told so when it speaks, and is alive once it refutes") {
  Lone lone;
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
  Lone lone;
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
    Lone lone;
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

TEST_CASE("gossip: a whole state casts suspicion, but kills nobody") {
  Lone lone;
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
    Lone lone;
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

TEST_CASE("gossip: nobody can point it at a stranger, and strangers get no help") {
  Lone lone;
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
  Lone lone;
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
  Lone lone;
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
  Lone lone;
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
  Lone lone;
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

TEST_CASE("gossip: a change of address is reported, a mere new incarnation is not") {
  Lone lone;
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

TEST_CASE("gossip: who leaves says so to everybody and then keeps silent") {
  Lone lone;
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
