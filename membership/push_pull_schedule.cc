#include "membership/push_pull_schedule.h"

#include <algorithm>

namespace torc::membership {

Duration push_pull_interval(Duration interval, size_t members) {
  Duration stretched = interval;
  for (; members > 32; members = (members + 1) / 2) stretched += interval;
  return stretched;
}

void PushPullSchedule::start(Duration interval, uint64_t random, Instant now) {
  periodic_at_ = now + Duration(random % static_cast<uint64_t>(interval.count()));
}

void PushPullSchedule::want(NodeId id, Instant now) {
  if (wanted_.empty()) allowed_at_ = std::max(allowed_at_, now);
  if (std::find(wanted_.begin(), wanted_.end(), id) == wanted_.end()) wanted_.push_back(id);
}

void PushPullSchedule::drop(NodeId id) {
  std::erase(wanted_, id);
}

std::optional<NodeId> PushPullSchedule::pop_wanted(Instant now) {
  if (wanted_.empty() || now < allowed_at_) return std::nullopt;
  const NodeId id = wanted_.front();
  wanted_.pop_front();
  allowed_at_ = now + kPushPullGap;
  return id;
}

void PushPullSchedule::schedule_periodic(Duration interval, uint64_t random, Instant now) {
  const Duration quarter = interval / 4;
  periodic_at_ =
      now + interval - quarter / 2 + Duration(random % static_cast<uint64_t>(quarter.count() + 1));
}

bool PushPullSchedule::may_answer(Instant now) {
  if (now - answers_since_ >= std::chrono::seconds(1)) {
    answers_since_ = now;
    answers_ = 0;
  }
  if (answers_ >= kPushPullAnswersPerSecondMax) return false;
  ++answers_;
  return true;
}

Instant PushPullSchedule::next_deadline() const {
  return std::min(wanted_.empty() ? kNever : allowed_at_, periodic_at_);
}

}  // namespace torc::membership
