// PushPullSchedule: with whom and when the whole state is exchanged: once with every new member,
// and with a random one every interval. Neither what this daemon begins nor what it answers exceeds
// its rate. Used only by Gossip.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "membership/instant.h"
#include "membership/node_id.h"

namespace torc::membership {

// Between two exchanges this daemon begins: five a second.
constexpr Duration kPushPullGap = std::chrono::milliseconds(200);
constexpr uint32_t kPushPullAnswersPerSecondMax = 100;

// Above 32 members, each doubling adds the interval once more, after hashicorp/memberlist (util.go,
// pushPullScale).
Duration push_pull_interval(Duration interval, size_t members);

class PushPullSchedule {
 public:
  // The first periodic one comes at a random moment of the first interval; `random` is any number.
  void start(Duration interval, uint64_t random, Instant now);

  // Exchange state with this member as soon as the rate allows.
  void want(NodeId id, Instant now);
  // Not needed any more: it was exchanged, or the member is forgotten.
  void drop(NodeId id);

  // The next wanted member, if the rate allows one now.
  std::optional<NodeId> pop_wanted(Instant now);
  bool is_periodic_due(Instant now) const { return periodic_at_ <= now; }
  // The next periodic one comes after `interval`, give or take an eighth; `random` is any number.
  void schedule_periodic(Duration interval, uint64_t random, Instant now);
  bool may_answer(Instant now);

  Instant next_deadline() const;

 private:
  std::deque<NodeId> wanted_;  // without doubles, so never more than there are members
  Instant allowed_at_;         // the next one this daemon begins for a wanted member
  Instant periodic_at_ = kNever;
  Instant answers_since_;
  uint32_t answers_ = 0;  // within the second since answers_since_
};

}  // namespace torc::membership
