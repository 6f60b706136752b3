#include "membership/gossip.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "membership/gossip_impl.h"
#include "membership/random_pick.h"
#include "membership/suspicion.h"

namespace torc::membership {
namespace {

// The dead get gossip for this long, so that the living among them can refute (memberlist's
// GossipToTheDeadTime).
constexpr Duration kGossipToTheDead = std::chrono::seconds(30);
// Helpers say "silent" a little before the asker's patience ends.
constexpr int kNackPercentOfTimeout = 80;

}  // namespace

Gossip::Impl::Impl(GossipConfig config, MemberInfo self, GossipEnv& env)
    : config_(config),
      env_(env),
      self_{std::move(self), NodeId{}},
      detector_(config.probe_interval, config.probe_timeout, config.indirect_probes, *this),
      relays_(config.probe_timeout * kNackPercentOfTimeout / 100, config.probe_interval),
      dials_(config.redial_interval) {
  assert(self_.member.id);
  self_.member.liveness = Liveness::kAlive;
  self_.member.incarnation = std::max<uint64_t>(self_.member.incarnation, 1);
}

void Gossip::Impl::start(Instant now) {
  assert(!started_);
  started_ = true;
  self_.member.since = now;
  sequence_ = static_cast<uint32_t>(env_.random());
  detector_.start(now);
  push_pulls_.start(config_.push_pull_interval, env_.random(), now);
  spread(self_, now);
}

void Gossip::Impl::add_member(const MemberInfo& member, Instant now) {
  if (!member.id || member.id == self_.member.id) return;
  if (!table_.add_named(member, now)) return;
  detector_.add(member.id);
  dials_.add_new(member.id, now);
  push_pulls_.want(member.id, now);
  env_.on_member_changed(*table_.find(member.id));
}

void Gossip::Impl::remove_member(NodeId id) {
  forget(id);
  table_.ban(id);
}

void Gossip::Impl::forget(NodeId id) {
  table_.forget(id);
  queue_.remove(id);
  detector_.remove(id);
  dials_.remove(id);
  push_pulls_.drop(id);
  suspects_.erase(id);
}

void Gossip::Impl::leave(Instant now) {
  if (left_ || !started_) return;
  self_.member.liveness = Liveness::kLeft;
  self_.member.since = now;
  left_ = true;
  for (const MemberInfo& member : table_.list()) {
    if (!table_.is_live(member.id)) continue;
    pb::GossipPacket packet = new_packet();
    encode(self_, packet.add_rumors());
    env_.send_packet(member.peer, packet);
  }
}

void Gossip::Impl::on_time(Instant now) {
  if (now < next_deadline()) return;
  // A paused daemon wakes up with overdue timers and unread answers: it must not judge before it
  // has listened.
  const Duration late = now - detector_.next_deadline();
  if (late > config_.probe_timeout) {
    detector_.overslept(now);
    for (auto& [id, dead_at] : suspects_) dead_at += late;
  }
  detector_.on_time(now);
  for (const RelayedPing& relay : relays_.on_time(now)) {
    pb::GossipPacket packet = new_packet();
    packet.mutable_nack()->set_sequence(relay.requester_sequence);
    env_.send_packet(relay.requester, packet);
  }
  declare_overdue_dead(now);
  for (const NodeId id : dials_.on_time(now)) dial(id);
  exchange_states(now);
  if (gossip_at_ <= now) gossip_round(now);
}

Instant Gossip::Impl::next_deadline() const {
  if (!started_ || left_) return kNever;
  Instant next = std::min({detector_.next_deadline(), relays_.next_deadline(),
                           dials_.next_deadline(), push_pulls_.next_deadline(), gossip_at_});
  for (const auto& [id, dead_at] : suspects_) next = std::min(next, dead_at);
  return next;
}

void Gossip::Impl::declare_overdue_dead(Instant now) {
  std::vector<NodeId> overdue;
  for (const auto& [id, dead_at] : suspects_) {
    if (dead_at <= now) overdue.push_back(id);
  }
  for (const NodeId id : overdue) {
    const Rumor* known = table_.find_rumor(id);
    if (!known) continue;  // removed in answer to an earlier verdict
    Rumor verdict = *known;
    verdict.member.liveness = Liveness::kDead;
    verdict.accuser = self_.member.id;
    hear(std::move(verdict), Source::kOwnVerdict, now);
  }
}

// A ping that tells a member held for dead both who calls and what is said of it.
void Gossip::Impl::dial(NodeId id) {
  const Rumor& accusation = *table_.find_rumor(id);
  pb::GossipPacket packet = new_packet();
  packet.mutable_ping()->set_sequence(++sequence_);
  packet.mutable_ping()->set_target(id.value);
  encode(self_, packet.add_rumors());
  if (accusation.member.incarnation > 0) encode(accusation, packet.add_rumors());
  env_.send_packet(accusation.member.peer, packet);
}

void Gossip::Impl::exchange_states(Instant now) {
  if (const std::optional<NodeId> wanted = push_pulls_.pop_wanted(now)) {
    env_.send_push_pull(table_.find(*wanted)->peer, whole_state(false));
  }
  if (!push_pulls_.is_periodic_due(now)) return;
  push_pulls_.schedule_periodic(push_pull_interval(config_.push_pull_interval, live_members()),
                                env_.random(), now);
  const auto live = table_.select([](const MemberInfo& member) {
    return member.liveness == Liveness::kAlive || member.liveness == Liveness::kSuspect;
  });
  for (const NodeId id : random_members(1, live)) {
    env_.send_push_pull(table_.find(id)->peer, whole_state(false));
  }
}

void Gossip::Impl::gossip_round(Instant now) {
  const auto listeners = table_.select([now](const MemberInfo& member) {
    switch (member.liveness) {
      case Liveness::kAlive:
      case Liveness::kSuspect:
        return true;
      case Liveness::kDead:
        return now - member.since < kGossipToTheDead;
      case Liveness::kLeft:
        break;
    }
    return false;
  });
  gossiped_at_ = now;
  for (const NodeId id : random_members(config_.gossip_nodes, listeners)) {
    pb::GossipPacket packet = new_packet();
    send_packed(table_.find(id)->peer, packet);
  }
  // With nobody to listen, the next rumor or member wakes the queue up again.
  gossip_at_ = queue_.empty() || listeners.empty() ? kNever : now + config_.gossip_interval;
}

std::vector<NodeId> Gossip::Impl::random_members(size_t count,
                                                 const std::vector<NodeId>& candidates) {
  std::vector<NodeId> picked = candidates;
  keep_random(picked, count, [this] { return env_.random(); });
  return picked;
}

pb::GossipPacket Gossip::Impl::new_packet() const {
  pb::GossipPacket packet;
  packet.set_topology_epoch(topology_epoch_);
  packet.set_topology_digest(topology_digest_);
  return packet;
}

pb::PushPull Gossip::Impl::whole_state(bool reply) const {
  pb::PushPull state;
  state.set_reply(reply);
  state.set_topology_epoch(topology_epoch_);
  state.set_topology_digest(topology_digest_);
  encode(self_, state.add_members());
  for (const MemberInfo& member : table_.list()) {
    // Of a member never heard there is nothing to tell.
    if (member.incarnation > 0) encode(*table_.find_rumor(member.id), state.add_members());
  }
  return state;
}

void Gossip::Impl::send_packed(const Address& to, pb::GossipPacket& packet) {
  queue_.fill(packet, config_.packet_bytes_max,
              transmits_max(config_.retransmit_multiplier, live_members()));
  if (packet.probe_case() == pb::GossipPacket::PROBE_NOT_SET && packet.rumors().empty()) return;
  env_.send_packet(to, packet);
}

bool Gossip::Impl::may_probe(NodeId id) const {
  return table_.is_live(id);
}

std::vector<NodeId> Gossip::Impl::helpers(NodeId target, size_t count) {
  return random_members(count, table_.select([target](const MemberInfo& member) {
    return member.id != target && member.liveness == Liveness::kAlive;
  }));
}

uint32_t Gossip::Impl::ping(NodeId target) {
  const Rumor& rumor = *table_.find_rumor(target);
  pb::GossipPacket packet = new_packet();
  packet.mutable_ping()->set_sequence(++sequence_);
  packet.mutable_ping()->set_target(target.value);
  // A suspect is told, so that it can refute at once.
  if (rumor.member.liveness != Liveness::kAlive) encode(rumor, packet.add_rumors());
  send_packed(rumor.member.peer, packet);
  return sequence_;
}

void Gossip::Impl::ask_to_ping(NodeId helper, NodeId target, uint32_t sequence) {
  pb::GossipPacket packet = new_packet();
  pb::PingRequest& request = *packet.mutable_ping_request();
  request.set_sequence(sequence);
  request.set_target(target.value);
  request.set_peer(table_.find(target)->peer.to_bytes());
  send_packed(table_.find(helper)->peer, packet);
}

Gossip::Gossip(GossipConfig config, MemberInfo self, GossipEnv& env)
    : impl_(std::make_unique<Impl>(config, std::move(self), env)) {}
Gossip::~Gossip() = default;

void Gossip::start(Instant now) {
  impl_->start(now);
}
void Gossip::add_member(const MemberInfo& member, Instant now) {
  impl_->add_member(member, now);
}
void Gossip::remove_member(NodeId id) {
  impl_->remove_member(id);
}
void Gossip::set_topology(uint64_t epoch, uint64_t digest) {
  impl_->topology_epoch_ = epoch;
  impl_->topology_digest_ = digest;
}
void Gossip::on_packet(NodeId from, const Address& sender, const pb::GossipPacket& packet,
                       Instant now) {
  impl_->on_packet(from, sender, packet, now);
}
void Gossip::on_push_pull(NodeId from, const Address& sender, const pb::PushPull& state,
                          Instant now) {
  impl_->on_push_pull(from, sender, state, now);
}
void Gossip::on_time(Instant now) {
  impl_->on_time(now);
}
Instant Gossip::next_deadline() const {
  return impl_->next_deadline();
}
void Gossip::leave(Instant now) {
  impl_->leave(now);
}
const MemberInfo* Gossip::find(NodeId id) const {
  return impl_->table_.find(id);
}
std::vector<MemberInfo> Gossip::members() const {
  return impl_->table_.list();
}
const MemberInfo& Gossip::self() const {
  return impl_->self_.member;
}
const GossipCounters& Gossip::counters() const {
  return impl_->counters_;
}

}  // namespace torc::membership
