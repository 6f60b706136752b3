// DialSchedule: when dead members are called again, so that a healed partition rejoins and a
// cluster that starts in any order is whole soon. A member is called at most once a second. Used
// only by Gossip.
#pragma once

#include <map>
#include <vector>

#include "membership/instant.h"
#include "membership/node_id.h"

namespace torc::membership {

constexpr Duration kEagerDialInterval = std::chrono::seconds(1);
constexpr Duration kEagerDialPeriod = std::chrono::seconds(10);

class DialSchedule {
 public:
  explicit DialSchedule(Duration redial_interval);

  // Just named by the topology, and perhaps only starting: at once, then every second for ten
  // seconds, then as any other.
  void add_new(NodeId id, Instant now);
  // Just declared dead: every redial interval.
  void add_dead(NodeId id, Instant now);
  // Somebody says that it lives: as soon as allowed. Ignored when it is not on the schedule.
  void hurry(NodeId id, Instant now);
  void remove(NodeId id);

  // Whom to call now, ordered by id; each is scheduled again.
  std::vector<NodeId> on_time(Instant now);
  Instant next_deadline() const;

 private:
  struct Dial {
    Instant at;
    Instant eager_until;
    Instant allowed_at;  // a second after the last one
  };
  const Duration redial_interval_;
  std::map<NodeId, Dial> dials_;
};

}  // namespace torc::membership
