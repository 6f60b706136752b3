// NodeContext: what the parts of one Node share: the time of the running input, the clock, the
// timers, the view of the cluster and the way out. Parts reach each other and the world only
// through it. One per Node.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/node/cluster_view.h"
#include "daemon/node/deadlines.h"
#include "daemon/node/env.h"
#include "daemon/node/node.h"
#include "membership/gossip.h"
#include "membership/instant.h"
#include "storage/hlc.h"

namespace torc::node {

constexpr size_t kAlarmsMax = 32;
// How far ahead another clock may be. Clocks that are wrong by decades exist; one that is wrong by
// more is a fault, and to follow it could leave no time to mint versions in, for ever.
constexpr int64_t kClockLeadMsMax = int64_t{100} * 365 * 24 * 3600 * 1000;

struct NodeContext {
  Env& env;
  const NodeConfig& config;
  Now now{};                                  // of the input being handled
  NodeId self{};                              // zero until the identity is read or minted
  std::shared_ptr<const ClusterView> view{};  // null until this daemon is a member
  membership::Gossip* gossip = nullptr;       // null until it has started
  storage::Hlc hlc{};
  Deadlines deadlines{};
  NodeMetrics metrics{};
  std::vector<std::string> alarms{};  // in the order they were raised, without repetitions

  // Another clock was seen. False: it is too far ahead to be one, and was not followed.
  bool observe(uint64_t clock);
  // Fills in from, sender and hlc, and sends.
  void send(const Address& to, Channel channel, pb::Envelope& message);
  // Where a member can be reached now: gossip's word, else the topology's; the default address when
  // unknown.
  Address address_of(NodeId id) const;
  // Where clients reach it.
  Address client_address_of(NodeId id) const;
  // Self is alive. Without gossip's word nobody else is.
  membership::Liveness liveness_of(NodeId id) const;
  // The member's name for messages to people; its id when the topology does not know it.
  std::string name_of(NodeId id) const;

  // What gossip and the topology know of a member; null when nothing.
  const membership::MemberInfo* heard_of(NodeId id) const;
  const pb::TopologyMember* named_in_topology(NodeId id) const;

  // Something that people must look at and that does not go away by itself: logged, counted, kept
  // for `torc status`. A text already raised is not raised again; beyond kAlarmsMax alarms are only
  // logged.
  void alarm(std::string text);

  // Submits a storage request whose completion is to reach `part` with `cookie` (below 2^56).
  template <typename Op>
  void submit(Part part, uint64_t cookie, Op op) {
    env.submit({static_cast<uint64_t>(part) << 56 | cookie, std::move(op)});
  }
};

}  // namespace torc::node
