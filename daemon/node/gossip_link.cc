#include "daemon/node/gossip_link.h"

namespace torc::node {

using membership::Liveness;
using membership::MemberInfo;

namespace {

bool is_named(const ClusterView* view, NodeId id) {
  if (view == nullptr) return false;
  const pb::TopologyMember* member = view->topology().find(id);
  return member != nullptr && member->role() != pb::REMOVED;
}

}  // namespace

void GossipLink::start(uint64_t restarts) {
  MemberInfo self;
  self.id = context_.self;
  self.name = context_.config.name;
  self.peer = context_.config.peer;
  self.client = context_.config.client;
  self.incarnation = restarts << 32;
  self.liveness = Liveness::kAlive;
  self.since = context_.now.at;
  gossip_ = std::make_unique<membership::Gossip>(context_.config.gossip, std::move(self), *this);
  context_.gossip = gossip_.get();
  gossip_->start(context_.now.at);
}

void GossipLink::on_view_changed(const ClusterView* before, uint64_t restarts) {
  const ClusterView* view = context_.view.get();
  if (gossip_ == nullptr) start(restarts);
  gossip_->set_topology(view->epoch(), view->digest());
  for (const pb::TopologyMember& named : view->topology().body().members()) {
    const NodeId id{named.id()};
    if (id == context_.self || !is_named(view, id) || is_named(before, id)) continue;
    MemberInfo member;
    member.id = id;
    member.name = named.name();
    member.peer = Address::from_bytes(named.peer());
    member.client = Address::from_bytes(named.client());
    member.since = context_.now.at;
    gossip_->add_member(member, context_.now.at);
    on_member_changed(*gossip_->find(id));  // it may have been heard of before it was named
  }
  if (before == nullptr) return;
  for (const pb::TopologyMember& named : before->topology().body().members()) {
    if (is_named(view, {named.id()})) continue;
    gossip_->remove_member({named.id()});
    told_.erase({named.id()});
  }
}

void GossipLink::on_packet(const pb::Envelope& message) {
  const Address sender = Address::from_bytes(message.sender());
  const pb::GossipPacket& packet = message.gossip();
  gossip_->on_packet({message.from()}, sender, packet, context_.now.at);
  keeper_.on_word(sender, packet.topology_epoch(), packet.topology_digest());
}

void GossipLink::on_push_pull(const pb::Envelope& message) {
  const Address sender = Address::from_bytes(message.sender());
  const pb::PushPull& state = message.push_pull();
  gossip_->on_push_pull({message.from()}, sender, state, context_.now.at);
  keeper_.on_word(sender, state.topology_epoch(), state.topology_digest());
}

void GossipLink::on_time() {
  if (gossip_ != nullptr && gossip_->next_deadline() <= context_.now.at) {
    gossip_->on_time(context_.now.at);
  }
}

void GossipLink::leave() {
  if (gossip_ != nullptr) gossip_->leave(context_.now.at);
}

Instant GossipLink::next_deadline() const {
  return gossip_ != nullptr ? gossip_->next_deadline() : kNever;
}

void GossipLink::count_members(NodeMetrics& metrics) const {
  if (context_.view == nullptr) return;
  for (const pb::TopologyMember& member : context_.view->topology().body().members()) {
    if (member.role() == pb::REMOVED) continue;
    switch (context_.liveness_of({member.id()})) {
      case Liveness::kAlive:
        ++metrics.members_alive;
        break;
      case Liveness::kSuspect:
        ++metrics.members_suspect;
        break;
      case Liveness::kDead:
      case Liveness::kLeft:
        ++metrics.members_dead;
        break;
    }
  }
}

void GossipLink::send_packet(const Address& to, const pb::GossipPacket& packet) {
  *packet_.mutable_gossip() = packet;
  context_.send(to, Channel::kDatagram, packet_);
}

void GossipLink::send_push_pull(const Address& to, const pb::PushPull& state) {
  pb::Envelope message;
  *message.mutable_push_pull() = state;
  context_.send(to, Channel::kStream, message);
}

void GossipLink::on_member_changed(const MemberInfo& member) {
  // Anybody can make up strangers, as many as they like and under any name.
  if (!is_named(context_.view.get(), member.id)) return;
  Liveness& told = told_.emplace(member.id, Liveness::kDead).first->second;
  if (told == member.liveness) return;
  told = member.liveness;
  context_.env.log(LogLevel::kInfo,
                   context_.name_of(member.id) + " is " + membership::to_string(member.liveness));
}

}  // namespace torc::node
