// Gossip::Impl: the parts of SWIM put together. Rumors go into the table, what the table finds new
// goes into the broadcast queue, and timers are those of the parts, asked for in turn. Included
// only by gossip*.cc.
#pragma once

#include <map>
#include <vector>

#include "membership/broadcast_queue.h"
#include "membership/dial_schedule.h"
#include "membership/failure_detector.h"
#include "membership/gossip.h"
#include "membership/member_table.h"
#include "membership/push_pull_schedule.h"
#include "membership/relayed_pings.h"
#include "membership/rumor.h"

namespace torc::membership {

class Gossip::Impl : public ProbeHost {
 public:
  Impl(GossipConfig config, MemberInfo self, GossipEnv& env);

  // gossip.cc: the life of the daemon, and its timers.
  void start(Instant now);
  void add_member(const MemberInfo& member, Instant now);
  void remove_member(NodeId id);
  // Drops all that is known of it; it may be learnt again.
  void forget(NodeId id);
  void leave(Instant now);
  void on_time(Instant now);
  Instant next_deadline() const;

  // gossip_receive.cc: what others say.
  void on_packet(NodeId from, const Address& sender, const pb::GossipPacket& packet, Instant now);
  void on_push_pull(NodeId from, const Address& sender, const pb::PushPull& state, Instant now);

  // ProbeHost.
  bool may_probe(NodeId id) const override;
  std::vector<NodeId> helpers(NodeId target, size_t count) override;
  uint32_t ping(NodeId target) override;
  void ask_to_ping(NodeId helper, NodeId target, uint32_t sequence) override;
  void on_silence(const Silence& silence, Instant now) override;
  uint64_t random() override { return env_.random(); }

  const GossipConfig config_;
  GossipEnv& env_;
  Rumor self_;
  uint64_t topology_epoch_ = 0;
  uint64_t topology_digest_ = 0;
  MemberTable table_;
  GossipCounters counters_;

 private:
  enum class Source { kPacket, kPushPull, kOwnVerdict };

  // Takes in one rumor. True when it speaks ill of this daemon, so that its teller must be told
  // better.
  bool hear(Rumor rumor, Source source, Instant now);
  void hear_stale(Liveness heard, const Rumor& known, Instant now);
  bool hear_of_self(const MemberInfo& rumor, Instant now);
  // The table has changed its mind about `id`; `before` is what it thought until now.
  void follow_change(NodeId id, Liveness before, bool is_new, Instant now);
  void spread(const Rumor& rumor, Instant now);
  bool handle_probe(const pb::GossipPacket& packet, NodeId from, const Address& sender, Instant now,
                    pb::GossipPacket& answer);
  bool may_hear(NodeId from, const Address& sender);

  void declare_overdue_dead(Instant now);
  void dial(NodeId id);
  void exchange_states(Instant now);
  void gossip_round(Instant now);

  size_t live_members() const { return table_.live_count() + 1; }
  std::vector<NodeId> random_members(size_t count, const std::vector<NodeId>& candidates);
  pb::GossipPacket new_packet() const;
  pb::PushPull whole_state(bool reply) const;
  // Fills what is left of the packet with rumors.
  void send_packed(const Address& to, pb::GossipPacket& packet);

  BroadcastQueue queue_;
  FailureDetector detector_;
  RelayedPings relays_;
  DialSchedule dials_;
  PushPullSchedule push_pulls_;
  std::map<NodeId, Instant> suspects_;  // when each counts as dead
  uint32_t sequence_ = 0;
  Instant gossip_at_ = kNever;
  Instant gossiped_at_;
  bool started_ = false;
  bool left_ = false;
};

}  // namespace torc::membership
