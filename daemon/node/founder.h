// Founder: decides the epochs of the cluster, alone, on the one daemon that founded it; on every
// other daemon it passes on to the founder what is asked. Owners change only while the cluster is
// closed for writes, and writes run only once it is open, so no key is ever looked for where it was
// not written. Driven by its Node.
//
// Why that is safe: a coordinator writes only under an epoch with writes_open, and the founder
// decides no change of owners after the first such epoch. So every write and every read that could
// see it go to the same owners.
#pragma once

#include <cstdint>
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
  void on_view_changed();
  void on_deadline(uint64_t cookie);

 private:
  enum Timer : uint64_t { kWindowTimer, kOpenTimer };

  bool is_founder() const;
  NodeId founder() const { return {context_.view->topology().body().founder()}; }
  void decide();
  void drop_settled_joins();
  void ask_founder_to_open();
  void send_view(const Address& to);
  void refuse(const Address& newcomer, const std::string& reason);
  // Why this newcomer cannot be let in; empty when it can.
  std::string objection(const pb::TopologyMember& newcomer) const;

  NodeContext& context_;
  TopologyKeeper& keeper_;

  std::vector<pb::TopologyMember> joins_;  // waiting for the next epoch
  bool open_wanted_ = false;
  bool deciding_ = false;  // an epoch of ours is being stored
  Deadlines::Handle window_timer_ = 0;

  Deadlines::Handle open_timer_ = 0;  // on the others: when to ask again
  Instant open_wanted_until_;
};

// The member this daemon is at the start of its life.
pb::TopologyMember self_as_member(const NodeContext& context);

}  // namespace torc::node
