// What Gossip does with the words of others: rumors first, then the probe, then one answer.
#include <algorithm>
#include <utility>

#include "membership/gossip_impl.h"
#include "membership/suspicion.h"

namespace torc::membership {
namespace {

constexpr int kPushPullMembersMax = 65536;
// Between two rounds of gossip, however urgent.
constexpr Duration kGossipGap = std::chrono::milliseconds(20);

}  // namespace

// Whether to listen to this sender at all.
bool Gossip::Impl::may_hear(NodeId from, const Address& sender) {
  if (!started_ || left_ || table_.is_banned(from)) return false;
  if (from && from != self_.member.id && sender) return true;
  ++counters_.malformed;
  return false;
}

void Gossip::Impl::on_packet(NodeId from, const Address& sender, const pb::GossipPacket& packet,
                             Instant now) {
  if (!may_hear(from, sender)) return;
  // A datagram's sender is only claimed. Whoever is not known at that address gets no more than was
  // sent.
  const MemberInfo* known = table_.find(from);
  const bool is_proven = known && known->peer == sender;

  bool is_accused = false;
  for (const pb::MemberState& state : packet.rumors()) {
    std::optional<Rumor> rumor = decode(state);
    if (!rumor) {
      ++counters_.malformed;
      continue;
    }
    is_accused |= hear(std::move(*rumor), Source::kPacket, now);
  }

  pb::GossipPacket answer = new_packet();
  if (is_accused) encode(self_, answer.add_rumors());
  // It speaks, so it lives: let it hear what is said of it.
  const Rumor* talker = table_.find_rumor(from);
  if (talker && talker->member.liveness != Liveness::kAlive && talker->member.incarnation > 0) {
    encode(*talker, answer.add_rumors());
  }
  const bool is_asked = handle_probe(packet, from, sender, now, answer);
  if (!is_asked && answer.rumors().empty()) return;
  if (is_proven) {
    send_packed(sender, answer);
    return;
  }
  const size_t bytes_max = packet.ByteSizeLong();
  while (!answer.rumors().empty() && answer.ByteSizeLong() > bytes_max) {
    answer.mutable_rumors()->RemoveLast();
  }
  if (is_asked || !answer.rumors().empty()) env_.send_packet(sender, answer);
}

// True when the packet asks for an answer, which is then filled in.
bool Gossip::Impl::handle_probe(const pb::GossipPacket& packet, NodeId from, const Address& sender,
                                Instant now, pb::GossipPacket& answer) {
  switch (packet.probe_case()) {
    case pb::GossipPacket::kPing:
      if (packet.ping().target() != self_.member.id.value) return false;
      answer.mutable_ack()->set_sequence(packet.ping().sequence());
      return true;

    case pb::GossipPacket::kAck:
      detector_.on_ack(from, packet.ack().sequence());
      if (const auto relay = relays_.on_ack(from, packet.ack().sequence())) {
        pb::GossipPacket passed_on = new_packet();
        passed_on.mutable_ack()->set_sequence(relay->requester_sequence);
        env_.send_packet(relay->requester, passed_on);
      }
      return false;

    case pb::GossipPacket::kNack:
      detector_.on_nack(from, packet.nack().sequence());
      return false;

    case pb::GossipPacket::kPingRequest: {
      const pb::PingRequest& request = packet.ping_request();
      const NodeId target{request.target()};
      const Address peer = Address::from_bytes(request.peer());
      if (!peer || peer.is_unspecified() || target == self_.member.id) {
        ++counters_.malformed;
        return false;
      }
      // Only members are helped, and only with members, so that nobody can point this daemon at a
      // stranger.
      if (!table_.find(from) || !table_.find(target) || relays_.full()) return false;
      relays_.open(++sequence_, {target, sender, request.sequence()}, now);
      pb::GossipPacket ping = new_packet();
      ping.mutable_ping()->set_sequence(sequence_);
      ping.mutable_ping()->set_target(target.value);
      env_.send_packet(peer, ping);
      return false;
    }

    case pb::GossipPacket::PROBE_NOT_SET:
      break;
  }
  return false;
}

void Gossip::Impl::on_push_pull(NodeId from, const Address& sender, const pb::PushPull& state,
                                Instant now) {
  if (!may_hear(from, sender)) return;
  if (state.members_size() > kPushPullMembersMax) {
    ++counters_.malformed;
    return;
  }
  bool is_accused = false;
  for (const pb::MemberState& member : state.members()) {
    std::optional<Rumor> rumor = decode(member);
    if (!rumor) {
      ++counters_.malformed;
      continue;
    }
    is_accused |= hear(std::move(*rumor), Source::kPushPull, now);
  }
  push_pulls_.drop(from);
  if (!state.reply()) {
    if (push_pulls_.may_answer(now)) env_.send_push_pull(sender, whole_state(true));
  } else if (is_accused) {
    pb::GossipPacket packet = new_packet();
    encode(self_, packet.add_rumors());
    env_.send_packet(sender, packet);
  }
}

bool Gossip::Impl::hear(Rumor rumor, Source source, Instant now) {
  const NodeId id = rumor.member.id;
  if (id == self_.member.id) return hear_of_self(rumor.member, now);

  const MemberInfo* known = table_.find(id);
  const Liveness before = known ? known->liveness : Liveness::kDead;
  // The whole state of somebody who was cut off is full of the dead: to them it only casts
  // suspicion, so that the living can refute before anybody is lost (as memberlist does).
  if (source == Source::kPushPull && rumor.member.liveness == Liveness::kDead && known &&
      (before == Liveness::kAlive || before == Liveness::kSuspect)) {
    rumor.member.liveness = Liveness::kSuspect;
  }
  if (!known && table_.is_full_of_strangers()) {
    if (const NodeId stranger = table_.longest_gone_stranger()) forget(stranger);
  }
  switch (table_.apply(rumor, now)) {
    case MemberTable::Outcome::kOld:
      break;
    case MemberTable::Outcome::kStale:
      hear_stale(rumor.member.liveness, *table_.find_rumor(id), now);
      break;
    case MemberTable::Outcome::kRenewed:
      if (before == Liveness::kSuspect) {
        suspects_[id] = now + suspicion_timeout(config_.suspicion_multiplier, live_members(),
                                                config_.probe_interval);
      }
      spread(*table_.find_rumor(id), now);
      break;
    case MemberTable::Outcome::kChanged:
      follow_change(id, before, false, now);
      break;
    case MemberTable::Outcome::kLearnt:
      follow_change(id, before, true, now);
      break;
  }
  return false;
}

// Somebody lags behind. If the dead lives after all, a call makes it refute; and whoever missed a
// goodbye must not take silence for death.
void Gossip::Impl::hear_stale(Liveness heard, const Rumor& known, Instant now) {
  if (heard == Liveness::kAlive && known.member.liveness == Liveness::kDead) {
    dials_.hurry(known.member.id, now);
  } else if (heard != Liveness::kAlive && known.member.liveness == Liveness::kLeft) {
    spread(known, now);
  }
}

// Contradicts with an incarnation above the rumor's; after that only a stale rumor needs an answer.
bool Gossip::Impl::hear_of_self(const MemberInfo& rumor, Instant now) {
  const bool lives = rumor.liveness == Liveness::kAlive || rumor.liveness == Liveness::kSuspect;
  if (lives && rumor.peer != self_.member.peer && rumor.incarnation >= self_.member.incarnation) {
    env_.on_twin(rumor.peer);
  }
  if (supersedes(rumor, self_.member)) {
    self_.member.incarnation = rumor.incarnation + 1;
    ++counters_.refutations;
    spread(self_, now);
    gossip_at_ = std::min(gossip_at_, std::max(now, gossiped_at_ + kGossipGap));
    return true;
  }
  return rumor.liveness != Liveness::kAlive;
}

void Gossip::Impl::follow_change(NodeId id, Liveness before, bool is_new, Instant now) {
  const Rumor rumor = *table_.find_rumor(id);
  if (is_new) detector_.add(id);
  const Liveness after = rumor.member.liveness;
  if (after != Liveness::kSuspect) {
    suspects_.erase(id);
  } else if (before != Liveness::kSuspect) {
    suspects_[id] = now + suspicion_timeout(config_.suspicion_multiplier, live_members(),
                                            config_.probe_interval);
  }
  if (after != Liveness::kDead) {
    dials_.remove(id);
  } else if (before != Liveness::kDead) {
    dials_.add_dead(id, now);
  }
  const bool was_live = !is_new && (before == Liveness::kAlive || before == Liveness::kSuspect);
  if (table_.is_live(id) && !was_live) push_pulls_.want(id, now);
  spread(rumor, now);
  env_.on_member_changed(rumor.member);
}

void Gossip::Impl::spread(const Rumor& rumor, Instant now) {
  queue_.push(rumor);
  gossip_at_ = std::min(gossip_at_, std::max(now, gossiped_at_ + config_.gossip_interval));
}

void Gossip::Impl::on_silence(const Silence& silence, Instant now) {
  ++counters_.suspicions;
  counters_.nacks_missed += silence.helpers - silence.nacks;
  Rumor verdict = *table_.find_rumor(silence.target);
  verdict.member.liveness = Liveness::kSuspect;
  verdict.accuser = self_.member.id;
  hear(std::move(verdict), Source::kOwnVerdict, now);
}

}  // namespace torc::membership
