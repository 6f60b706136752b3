// MemberTable: every member this daemon has heard of, with the greatest rumor about each. Members
// named by the topology are kept until it removes them; of strangers there are never more than
// `strangers_max`. Used only by Gossip; it decides nothing and sends nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "membership/instant.h"
#include "membership/rumor.h"

namespace torc::membership {

class MemberTable {
 public:
  enum class Outcome {
    kOld,      // nothing new, or nothing to be kept
    kStale,    // its teller lags behind what is known here
    kRenewed,  // a newer incarnation or accuser, but the same liveness and addresses
    kChanged,  // another liveness or address
    kLearnt,   // the first word of this member
  };

  explicit MemberTable(size_t strangers_max = 1024, size_t banned_max = 4096);

  Outcome apply(const Rumor& rumor, Instant now);

  // Named by the topology. True when it was unknown: then it is dead until it is heard. Of a member
  // known only from the topology, it also updates name and addresses; otherwise gossip knows
  // better.
  bool add_named(const MemberInfo& member, Instant now);
  void forget(NodeId id);
  // Rumors about this id are ignored from now on. At most `banned_max` are remembered, the oldest
  // go first. REQUIRES: forgotten.
  void ban(NodeId id);
  bool is_banned(NodeId id) const { return banned_.contains(id); }

  // No stranger is learnt any more, until one is forgotten.
  bool is_full_of_strangers() const { return strangers_ >= strangers_max_; }
  // The stranger that has been dead or gone for longest; zero when all live.
  NodeId longest_gone_stranger() const;

  const MemberInfo* find(NodeId id) const;
  const Rumor* find_rumor(NodeId id) const;
  bool is_live(NodeId id) const;  // alive or suspect
  size_t live_count() const;
  std::vector<MemberInfo> list() const;  // ordered by id
  // All members for which `wanted(MemberInfo)` holds, ordered by id.
  template <typename Wanted>
  std::vector<NodeId> select(Wanted wanted) const {
    std::vector<NodeId> ids;
    for (const auto& [id, entry] : entries_) {
      if (wanted(entry.rumor.member)) ids.push_back(id);
    }
    return ids;
  }

 private:
  struct Entry {
    Rumor rumor;
    bool named = false;
  };

  std::map<NodeId, Entry> entries_;
  size_t strangers_ = 0;
  const size_t strangers_max_;
  const size_t banned_max_;
  std::set<NodeId> banned_;
  std::deque<NodeId> banned_order_;  // of banned_, the oldest first
};

}  // namespace torc::membership
