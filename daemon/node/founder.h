// Founder: decides the epochs of the cluster, alone, on the one daemon that founded it; on every
// other daemon it passes on to the founder what is asked. Owners change only while the cluster is
// closed for writes, and writes run only once it is open. Driven by its Node.
//
// Why no quorum read misses a write. A coordinator writes only under an epoch with writes_open, and
// from the first such epoch on no owner changes; nor does one change in that epoch itself. So a
// write could be missed only by a read under an epoch older than the last change of owners,
// answered by a majority of the owners of that time who have not heard of the change either. Before
// it opens the cluster the founder therefore waits until every member but one has confirmed that it
// holds the current epoch: one daemon is no majority of two owners or more, and where an owner
// stood alone it was the founder itself (with a replication of 1 all members must confirm).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/node/context.h"
#include "daemon/node/topology_keeper.h"

namespace torc::node {

class Founder {
 public:
  // Joins that arrive within the window share one epoch.
  static constexpr Duration kJoinWindow = std::chrono::milliseconds(200);
  static constexpr Duration kOpenRetry = std::chrono::milliseconds(300);
  static constexpr size_t kJoinsMax = 256;  // waiting; a newcomer who finds no room asks again

  Founder(NodeContext& context, TopologyKeeper& keeper) : context_(context), keeper_(keeper) {}

  // A new cluster with this daemon as its only member. Stops the daemon when the parameters are
  // refused.
  void found();

  // All below REQUIRE that the view is set.
  void on_join(const pb::Envelope& message);
  void on_open_writes(const pb::Envelope& message);
  // A write waits on this daemon; asked again until the cluster is open or no write can be waiting
  // any more.
  void open_writes();
  // A member has said that it holds this epoch.
  void on_word(NodeId from, uint64_t epoch);
  void on_view_changed();
  void on_deadline(uint64_t cookie);

 private:
  enum Timer : uint64_t { kWindowTimer, kOpenTimer };

  bool is_founder() const;
  NodeId founder() const { return {context_.view->topology().body().founder()}; }
  void decide();
  bool may_open() const;
  bool has_confirmed(NodeId member) const;
  void seek_opening();
  void arm_open_timer();
  void drop_settled_joins();
  void send_view(const Address& to);
  void refuse(const Address& newcomer, const std::string& reason);
  // Why this newcomer cannot be let in; empty when it can.
  std::string objection(const pb::TopologyMember& newcomer) const;

  NodeContext& context_;
  TopologyKeeper& keeper_;

  // On the founder.
  std::vector<pb::TopologyMember> joins_;  // waiting for the next epoch
  bool deciding_ = false;                  // an epoch of ours is being stored
  Deadlines::Handle window_timer_ = 0;
  std::map<NodeId, uint64_t>
      confirmed_;  // the newest epoch each member is known to hold, while closed

  // Everywhere: a write waits for the cluster to be opened, and may wait until then.
  bool open_wanted_ = false;
  Instant open_wanted_until_;
  Deadlines::Handle open_timer_ = 0;
};

// The member this daemon is at the start of its life.
pb::TopologyMember self_as_member(const NodeContext& context);

}  // namespace torc::node
