#include "membership/failure_detector.h"

#include <algorithm>
#include <cassert>

#include "membership/random_pick.h"

namespace torc::membership {

FailureDetector::FailureDetector(Duration interval, Duration timeout, size_t helpers_max,
                                 ProbeHost& host)
    : interval_(interval), timeout_(timeout), helpers_max_(helpers_max), host_(host) {
  assert(timeout < interval);
}

void FailureDetector::start(Instant now) {
  const auto phase = host_.random() % static_cast<uint64_t>(interval_.count());
  interval_ends_at_ = now + Duration(phase);
}

void FailureDetector::add(NodeId id) {
  assert(std::find(round_.begin(), round_.end(), id) == round_.end());
  const size_t position = next_in_round_ + host_.random() % (round_.size() - next_in_round_ + 1);
  round_.insert(round_.begin() + static_cast<ptrdiff_t>(position), id);
}

void FailureDetector::remove(NodeId id) {
  const auto found = std::find(round_.begin(), round_.end(), id);
  if (found == round_.end()) return;
  if (static_cast<size_t>(found - round_.begin()) < next_in_round_) --next_in_round_;
  round_.erase(found);
  if (target_ == id) target_ = NodeId{};
}

bool FailureDetector::is_helper(NodeId id) const {
  return std::find(helpers_.begin(), helpers_.end(), id) != helpers_.end();
}

void FailureDetector::on_ack(NodeId from, uint32_t sequence) {
  if (!target_ || sequence != sequence_) return;
  if (from == target_ || is_helper(from)) target_ = NodeId{};
}

void FailureDetector::on_nack(NodeId from, uint32_t sequence) {
  if (!target_ || sequence != sequence_) return;
  nacks_ += std::erase(helpers_, from);
}

void FailureDetector::on_time(Instant now) {
  if (ask_helpers_at_ <= now) ask_helpers();
  if (interval_ends_at_ > now) return;
  const Silence silence{target_, helpers_asked_, nacks_};
  begin(now);
  if (silence.target) host_.on_silence(silence, now);
}

void FailureDetector::overslept(Instant now) {
  if (interval_ends_at_ == kNever) return;
  target_ = NodeId{};
  ask_helpers_at_ = kNever;
  interval_ends_at_ = now;
}

void FailureDetector::begin(Instant now) {
  interval_ends_at_ = now + interval_;
  ask_helpers_at_ = kNever;
  helpers_.clear();
  helpers_asked_ = 0;
  nacks_ = 0;
  target_ = next_target();
  if (!target_) return;
  sequence_ = host_.ping(target_);
  ask_helpers_at_ = now + timeout_;
}

void FailureDetector::ask_helpers() {
  ask_helpers_at_ = kNever;
  if (!target_) return;
  helpers_ = host_.helpers(target_, helpers_max_);
  helpers_asked_ = helpers_.size();
  for (const NodeId helper : helpers_) host_.ask_to_ping(helper, target_, sequence_);
}

// The next of the round that may be probed; a finished round is shuffled anew.
NodeId FailureDetector::next_target() {
  // The rest of this round and a whole new one hold everybody.
  for (size_t tries = 2 * round_.size(); tries > 0; --tries) {
    if (next_in_round_ == round_.size()) {
      keep_random(round_, round_.size(), [this] { return host_.random(); });
      next_in_round_ = 0;
    }
    const NodeId id = round_[next_in_round_++];
    if (host_.may_probe(id)) return id;
  }
  return {};
}

Instant FailureDetector::next_deadline() const {
  return std::min(ask_helpers_at_, interval_ends_at_);
}

}  // namespace torc::membership
