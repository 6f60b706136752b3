#include "membership/member_table.h"

#include <algorithm>
#include <cassert>

namespace torc::membership {
namespace {

bool is_live(Liveness liveness) {
  return liveness == Liveness::kAlive || liveness == Liveness::kSuspect;
}

}  // namespace

MemberTable::MemberTable(size_t strangers_max, size_t banned_max)
    : strangers_max_(strangers_max), banned_max_(banned_max) {}

MemberTable::Outcome MemberTable::apply(const Rumor& rumor, Instant now) {
  const NodeId id = rumor.member.id;
  if (banned_.contains(id)) return Outcome::kOld;

  const auto found = entries_.find(id);
  if (found == entries_.end()) {
    // A stranger's death is no news: whoever matters after death is named by the topology.
    if (!membership::is_live(rumor.member.liveness) || is_full_of_strangers()) {
      return Outcome::kOld;
    }
    Entry& entry = entries_[id];
    entry.rumor = rumor;
    entry.rumor.member.since = now;
    ++strangers_;
    return Outcome::kLearnt;
  }

  Rumor& known = found->second.rumor;
  if (!supersedes(rumor.member, known.member)) {
    return supersedes(known.member, rumor.member) ? Outcome::kStale : Outcome::kOld;
  }
  const bool other_liveness = rumor.member.liveness != known.member.liveness;
  const bool other_address =
      rumor.member.peer != known.member.peer || rumor.member.client != known.member.client;
  const Instant since = other_liveness ? now : known.member.since;
  known = rumor;
  known.member.since = since;
  return other_liveness || other_address ? Outcome::kChanged : Outcome::kRenewed;
}

NodeId MemberTable::longest_gone_stranger() const {
  const MemberInfo* longest = nullptr;
  for (const auto& [id, entry] : entries_) {
    const MemberInfo& member = entry.rumor.member;
    if (entry.named || membership::is_live(member.liveness)) continue;
    if (!longest || member.since < longest->since) longest = &member;
  }
  return longest ? longest->id : NodeId{};
}

bool MemberTable::add_named(const MemberInfo& member, Instant now) {
  if (banned_.erase(member.id) != 0) std::erase(banned_order_, member.id);

  const auto [found, is_new] = entries_.try_emplace(member.id);
  Entry& entry = found->second;
  if (!is_new && !entry.named) --strangers_;
  entry.named = true;
  MemberInfo& known = entry.rumor.member;
  if (is_new) {
    known = member;
    known.liveness = Liveness::kDead;
    known.since = now;
  } else if (known.incarnation == 0) {
    known.name = member.name;
    known.peer = member.peer;
    known.client = member.client;
  }
  return is_new;
}

void MemberTable::forget(NodeId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  if (!found->second.named) --strangers_;
  entries_.erase(found);
}

void MemberTable::ban(NodeId id) {
  assert(!entries_.contains(id));
  if (!banned_.insert(id).second) return;
  banned_order_.push_back(id);
  if (banned_order_.size() <= banned_max_) return;
  banned_.erase(banned_order_.front());
  banned_order_.pop_front();
}

const Rumor* MemberTable::find_rumor(NodeId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.rumor;
}

const MemberInfo* MemberTable::find(NodeId id) const {
  const Rumor* rumor = find_rumor(id);
  return rumor ? &rumor->member : nullptr;
}

bool MemberTable::is_live(NodeId id) const {
  const MemberInfo* member = find(id);
  return member && membership::is_live(member->liveness);
}

size_t MemberTable::live_count() const {
  return static_cast<size_t>(std::count_if(entries_.begin(), entries_.end(), [](const auto& item) {
    return membership::is_live(item.second.rumor.member.liveness);
  }));
}

std::vector<MemberInfo> MemberTable::list() const {
  std::vector<MemberInfo> members;
  members.reserve(entries_.size());
  for (const auto& [id, entry] : entries_) members.push_back(entry.rumor.member);
  return members;
}

}  // namespace torc::membership
