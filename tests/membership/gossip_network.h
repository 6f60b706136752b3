// GossipNetwork: a few dozen Gossips on one virtual clock, with latency, loss, partitions, pauses
// and restarts. The same seed gives the same run. Packets are serialized on the way, as on a real
// wire.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "membership/gossip.h"

namespace torc::membership {

class GossipNetwork {
 public:
  static constexpr Duration kSecond = std::chrono::seconds(1);

  struct Change {
    Instant at;
    size_t observer;
    MemberInfo member;
  };

  explicit GossipNetwork(uint64_t seed) : random_(seed) { INFO("seed ", seed); }

  // Nodes are numbered from 0. Each knows all others from the topology unless told otherwise.
  void start_all(size_t nodes) {
    for (size_t i = 0; i < nodes; ++i) add_node();
    for (size_t i = 0; i < nodes; ++i) start(i);
  }
  size_t add_node() {
    hosts_.push_back(std::make_unique<Host>(*this, hosts_.size()));
    return hosts_.size() - 1;
  }
  // `knows` as from the topology; all others when empty.
  void start(size_t node, std::vector<size_t> knows = {}) {
    Host& host = *hosts_[node];
    MemberInfo self = info(node);
    self.incarnation = ++host.boots << 32;
    host.gossip = std::make_unique<Gossip>(GossipConfig{}, self, host);
    host.gossip->set_topology(1, 0xd16e57);
    host.gossip->start(now_);
    if (knows.empty()) {
      for (size_t i = 0; i < hosts_.size(); ++i) knows.push_back(i);
    }
    for (const size_t other : knows) host.gossip->add_member(info(other), now_);
  }
  void kill(size_t node) { hosts_[node]->gossip.reset(); }
  // What arrives while paused waits and is delivered on resume, as from a socket buffer, after the
  // timers.
  void pause(size_t node) { hosts_[node]->paused = true; }
  void resume(size_t node) {
    Host& host = *hosts_[node];
    host.paused = false;
    if (host.gossip->next_deadline() <= now_) host.gossip->on_time(now_);
    for (auto& deliver : std::exchange(host.inbox, {})) deliver();
  }
  void move(size_t node, uint16_t port) { hosts_[node]->port = port; }
  // Nodes of different sides hear nothing of each other; an empty set heals.
  void partition(std::set<size_t> side) { side_ = std::move(side); }
  void lose(double share) { loss_ = share; }

  void run(Duration duration) {
    const Instant end = now_ + duration;
    for (;;) {
      Instant next = events_.empty() ? kNever : events_.begin()->first.first;
      for (const auto& host : hosts_) {
        if (host->runs()) next = std::min(next, host->gossip->next_deadline());
      }
      if (next > end) break;
      now_ = std::max(now_, next);
      while (!events_.empty() && events_.begin()->first.first <= now_) {
        const auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        event();
      }
      for (const auto& host : hosts_) {
        if (host->runs() && host->gossip->next_deadline() <= now_) host->gossip->on_time(now_);
      }
    }
    now_ = end;
  }
  // Runs until `done()`, checked every 10 ms; false when it takes longer.
  bool run_until(const std::function<bool()>& done, Duration at_most) {
    const Instant end = now_ + at_most;
    while (!done()) {
      if (now_ >= end) return false;
      run(std::chrono::milliseconds(10));
    }
    return true;
  }

  bool sees(size_t observer, size_t node, Liveness liveness) const {
    const MemberInfo* member = hosts_[observer]->gossip->find(id(node));
    return member && member->liveness == liveness;
  }
  bool all_see(size_t node, Liveness liveness) const {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (i != node && hosts_[i]->gossip && !sees(i, node, liveness)) return false;
    }
    return true;
  }
  // Everybody that runs is alive to everybody that runs.
  bool whole() const {
    for (size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i]->gossip && !all_see(i, Liveness::kAlive)) return false;
    }
    return true;
  }
  // Who was ever called suspect, dead or left since the last clear_changes().
  std::set<size_t> accused() const {
    std::set<size_t> nodes;
    for (const Change& change : changes_) {
      if (change.member.liveness != Liveness::kAlive) nodes.insert(change.member.id.value - 1);
    }
    return nodes;
  }

  static NodeId id(size_t node) { return NodeId{node + 1}; }
  MemberInfo info(size_t node) const {
    MemberInfo member;
    member.id = id(node);
    member.name = "n" + std::to_string(node);
    member.peer = *Address::parse("127.0.0.1:" + std::to_string(hosts_[node]->port));
    member.client = *Address::parse("127.0.0.1:" + std::to_string(hosts_[node]->port + 1000));
    return member;
  }
  Gossip& operator[](size_t node) { return *hosts_[node]->gossip; }
  Instant now() const { return now_; }
  const std::vector<Change>& changes() const { return changes_; }
  void clear_changes() { changes_.clear(); }
  size_t packets() const { return packets_; }
  size_t twins() const { return twins_; }
  size_t packet_bytes_largest() const { return packet_bytes_largest_; }
  uint64_t trace() const { return trace_; }

 private:
  struct Host final : GossipEnv {
    Host(GossipNetwork& of, size_t number)
        : network(of), node(number), port(static_cast<uint16_t>(7100 + number)) {}

    bool runs() const { return gossip && !paused; }
    void send_packet(const Address& to, const pb::GossipPacket& packet) override {
      ++network.packets_;
      const std::string bytes = packet.SerializeAsString();
      network.packet_bytes_largest_ = std::max(network.packet_bytes_largest_, bytes.size());
      network.send(*this, to, bytes, true);
    }
    void send_push_pull(const Address& to, const pb::PushPull& state) override {
      network.send(*this, to, state.SerializeAsString(), false);
    }
    uint64_t random() override { return network.random_(); }
    void on_member_changed(const MemberInfo& member) override {
      network.changes_.push_back({network.now_, node, member});
    }
    void on_twin(const Address&) override { ++network.twins_; }

    GossipNetwork& network;
    size_t node;
    uint16_t port;
    uint64_t boots = 0;
    bool paused = false;
    std::unique_ptr<Gossip> gossip;
    std::vector<std::function<void()>> inbox;
  };

  void send(Host& from, const Address& to, std::string bytes, bool is_packet) {
    const bool lost = static_cast<double>(random_() % 10000) < loss_ * 10000;
    if (lost && is_packet) return;  // a stream repeats what was lost
    const Duration latency(200 + static_cast<int64_t>(random_() % 1800));
    const Address sender = info(from.node).peer;
    events_[{now_ + latency, event_++}] = [=, this, node = from.node, bytes = std::move(bytes)] {
      for (const auto& host : hosts_) {
        if (host->port != to.port || !host->gossip) continue;
        if (!side_.empty() && side_.contains(node) != side_.contains(host->node)) continue;
        trace_ = trace_ * 1099511628211U + std::hash<std::string>()(bytes) + host->node;
        auto deliver = [=, this, &target = *host] {
          if (!target.gossip) return;
          if (is_packet) {
            pb::GossipPacket packet;
            REQUIRE(packet.ParseFromString(bytes));
            target.gossip->on_packet(id(node), sender, packet, now_);
          } else {
            pb::PushPull state;
            REQUIRE(state.ParseFromString(bytes));
            target.gossip->on_push_pull(id(node), sender, state, now_);
          }
        };
        if (host->paused) {
          host->inbox.push_back(deliver);
        } else {
          deliver();
        }
      }
    };
  }

  std::mt19937_64 random_;
  Instant now_{kSecond * 1000};
  std::map<std::pair<Instant, uint64_t>, std::function<void()>> events_;
  uint64_t event_ = 0;
  double loss_ = 0;
  std::set<size_t> side_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Change> changes_;
  size_t packets_ = 0;
  size_t twins_ = 0;
  size_t packet_bytes_largest_ = 0;
  uint64_t trace_ = 0;
};

}  // namespace torc::membership
