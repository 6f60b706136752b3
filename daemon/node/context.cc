#include "daemon/node/context.h"

#include <algorithm>

namespace torc::node {

bool NodeContext::observe(uint64_t clock) {
  const uint64_t own = hlc.read(now.wall_ms);
  if (clock > own && clock - own > storage::Hlc::from_ms(kClockLeadMsMax)) return false;
  hlc.observe(clock);
  return true;
}

void NodeContext::send(const Address& to, Channel channel, pb::Envelope& message) {
  message.set_from(self.value);
  message.set_sender(config.peer.to_bytes());
  message.set_hlc(hlc.read(now.wall_ms));
  env.send(to, channel, message);
}

Address NodeContext::address_of(NodeId id) const {
  if (id == self) return config.peer;
  if (const membership::MemberInfo* heard = heard_of(id)) return heard->peer;
  const pb::TopologyMember* named = named_in_topology(id);
  return named != nullptr ? Address::from_bytes(named->peer()) : Address{};
}

Address NodeContext::client_address_of(NodeId id) const {
  if (id == self) return config.client;
  if (const membership::MemberInfo* heard = heard_of(id)) return heard->client;
  const pb::TopologyMember* named = named_in_topology(id);
  return named != nullptr ? Address::from_bytes(named->client()) : Address{};
}

membership::Liveness NodeContext::liveness_of(NodeId id) const {
  if (id == self) return membership::Liveness::kAlive;
  const membership::MemberInfo* heard = heard_of(id);
  return heard != nullptr ? heard->liveness : membership::Liveness::kDead;
}

std::string NodeContext::name_of(NodeId id) const {
  const pb::TopologyMember* named = named_in_topology(id);
  return named != nullptr ? named->name() : id.to_string();
}

const membership::MemberInfo* NodeContext::heard_of(NodeId id) const {
  return gossip != nullptr ? gossip->find(id) : nullptr;
}

const pb::TopologyMember* NodeContext::named_in_topology(NodeId id) const {
  return view != nullptr ? view->topology().find(id) : nullptr;
}

void NodeContext::alarm(std::string text) {
  if (std::find(alarms.begin(), alarms.end(), text) != alarms.end()) return;
  env.log(LogLevel::kError, "ALARM: " + text);
  if (alarms.size() == kAlarmsMax) return;
  alarms.push_back(std::move(text));
  metrics.alarms = alarms.size();
}

}  // namespace torc::node
