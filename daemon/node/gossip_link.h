// GossipLink: ties membership's gossip to the Node: wraps its messages into envelopes, tells it who
// the topology's members are, and people who is alive. Gossip runs only while this daemon is a
// member. Driven by its Node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "daemon/node/context.h"
#include "daemon/node/topology_keeper.h"
#include "daemon/node/twin.h"
#include "membership/gossip.h"

namespace torc::node {

class GossipLink final : public membership::GossipEnv {
 public:
  GossipLink(NodeContext& context, TopologyKeeper& keeper, Twin& twin)
      : context_(context), keeper_(keeper), twin_(twin) {}

  // `restarts` is the durable counter, from which incarnations start.
  void on_view_changed(const ClusterView* before, uint64_t restarts);
  void on_packet(const pb::Envelope& message);
  void on_push_pull(const pb::Envelope& message);
  void on_time();
  void leave();
  Instant next_deadline() const;
  // Fills in the gauges of members.
  void count_members(NodeMetrics& metrics) const;

  void send_packet(const Address& to, const pb::GossipPacket& packet) override;
  void send_push_pull(const Address& to, const pb::PushPull& state) override;
  uint64_t random() override { return context_.env.random(); }
  void on_member_changed(const membership::MemberInfo& member) override;
  void on_twin(const Address& peer) override { twin_.heard_at(peer); }

 private:
  void start(uint64_t restarts);

  NodeContext& context_;
  TopologyKeeper& keeper_;
  Twin& twin_;
  std::unique_ptr<membership::Gossip> gossip_;   // null until this daemon is a member
  std::map<NodeId, membership::Liveness> told_;  // what people were told last
  pb::Envelope packet_;                          // reused
};

}  // namespace torc::node
