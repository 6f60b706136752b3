// LoneGossip: one Gossip, member 1 at incarnation 10, that talks into a test's hands. Its clock
// moves only when told to. For tests that go packet by packet.
#pragma once

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "membership/gossip.h"
#include "membership/rumor.h"

namespace torc::membership {

inline MemberInfo info(uint64_t id, uint64_t incarnation = 0,
                       Liveness liveness = Liveness::kAlive) {
  MemberInfo member;
  member.id = NodeId{id};
  member.name = "n" + std::to_string(id);
  member.peer = Address::parse("127.0.0.1:" + std::to_string(7100 + id % 50000)).value();
  member.client = Address::parse("127.0.0.1:7001").value();
  member.incarnation = incarnation;
  member.liveness = liveness;
  return member;
}

inline const Address kNowhere = Address::parse("10.9.9.9:9").value();

struct LoneGossip final : GossipEnv {
  LoneGossip() {
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
  void on_twin(const Address& peer) override { twins.push_back(peer); }

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
  Instant now{std::chrono::seconds(1000)};
  std::vector<std::pair<Address, pb::GossipPacket>> packets;
  std::vector<std::pair<Address, pb::PushPull>> push_pulls;
  std::vector<MemberInfo> changes;
  std::vector<Address> twins;
  Gossip gossip{GossipConfig{}, info(1, 10), *this};
};

inline pb::GossipPacket ping(uint64_t target, uint32_t sequence = 77) {
  pb::GossipPacket packet;
  packet.mutable_ping()->set_sequence(sequence);
  packet.mutable_ping()->set_target(target);
  return packet;
}

}  // namespace torc::membership
