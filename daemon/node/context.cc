#include "daemon/node/context.h"

#include <algorithm>

namespace torc::node {

void NodeContext::send(const Address& to, Channel channel, pb::Envelope& message) {
  message.set_from(self.value);
  message.set_sender(config.peer.to_bytes());
  message.set_hlc(hlc.read(now.wall_ms));
  env.send(to, channel, message);
}

Address NodeContext::address_of(NodeId id) const {
  if (id == self) return config.peer;
  if (gossip != nullptr) {
    if (const membership::MemberInfo* member = gossip->find(id)) return member->peer;
  }
  if (view != nullptr) {
    if (const pb::TopologyMember* member = view->topology().find(id)) {
      return Address::from_bytes(member->peer());
    }
  }
  return {};
}

membership::Liveness NodeContext::liveness_of(NodeId id) const {
  if (id == self) return membership::Liveness::kAlive;
  const membership::MemberInfo* member = gossip != nullptr ? gossip->find(id) : nullptr;
  return member != nullptr ? member->liveness : membership::Liveness::kDead;
}

std::string NodeContext::name_of(NodeId id) const {
  if (view != nullptr) {
    if (const pb::TopologyMember* member = view->topology().find(id)) return member->name();
  }
  return id.to_string();
}

void NodeContext::alarm(std::string text) {
  if (std::find(alarms.begin(), alarms.end(), text) != alarms.end()) return;
  env.log(LogLevel::kError, "ALARM: " + text);
  if (alarms.size() == kAlarmsMax) return;
  alarms.push_back(std::move(text));
  metrics.alarms = alarms.size();
}

}  // namespace torc::node
