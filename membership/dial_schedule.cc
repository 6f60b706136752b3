#include "membership/dial_schedule.h"

#include <algorithm>

namespace torc::membership {

DialSchedule::DialSchedule(Duration redial_interval) : redial_interval_(redial_interval) {}

void DialSchedule::add_new(NodeId id, Instant now) {
  dials_[id] = Dial{now, now + kEagerDialPeriod, now};
}

void DialSchedule::add_dead(NodeId id, Instant now) {
  dials_[id] = Dial{now + redial_interval_, now, now};
}

void DialSchedule::hurry(NodeId id, Instant now) {
  const auto found = dials_.find(id);
  if (found == dials_.end()) return;
  Dial& dial = found->second;
  dial.at = std::min(dial.at, std::max(now, dial.allowed_at));
}

void DialSchedule::remove(NodeId id) {
  dials_.erase(id);
}

std::vector<NodeId> DialSchedule::on_time(Instant now) {
  std::vector<NodeId> due;
  for (auto& [id, dial] : dials_) {
    if (dial.at > now) continue;
    due.push_back(id);
    dial.allowed_at = now + kEagerDialInterval;
    dial.at = now + (now < dial.eager_until ? kEagerDialInterval : redial_interval_);
  }
  return due;
}

Instant DialSchedule::next_deadline() const {
  Instant next = kNever;
  for (const auto& [id, dial] : dials_) next = std::min(next, dial.at);
  return next;
}

}  // namespace torc::membership
