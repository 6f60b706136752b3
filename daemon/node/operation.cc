#include "daemon/node/operation.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace torc::node {

std::expected<uint32_t, std::string> replicas_needed(Level level, uint32_t owners) {
  switch (level.kind) {
    case Level::kOne:
      return 1;
    case Level::kQuorum:
      return owners / 2 + 1;
    case Level::kAll:
      return std::max(owners, 1u);
    case Level::kCount:
      break;
  }
  if (level.count == 0) return std::unexpected("a level of 0 replicas promises nothing");
  if (level.count > owners) {
    return std::unexpected("level " + std::to_string(level.count) + " of a key with " +
                           std::to_string(owners) + (owners == 1 ? " replica" : " replicas"));
  }
  return level.count;
}

Operation::Operation(OperationServices& services, RequestId request, OperationId id,
                     uint32_t partition)
    : services_(services), request_(request), id_(id), partition_(partition) {}

Operation::~Operation() {
  services_.repairs.bytes -= kept_bytes_;
}

void Operation::start() {
  const uint32_t timeout_ms = view().topology().body().parameters().request_timeout_ms_max();
  deadline_ = context().now.at +
              std::chrono::milliseconds(timeout_ms == 0 ? kRequestTimeoutMsDefault : timeout_ms);
  arm(context().now.at + kRetryDelayFirst);
  advance();
}

void Operation::on_timer() {
  timer_ = 0;
  const Instant now = context().now.at;
  if (now >= deadline_) {
    give_up();
    return;
  }
  retry_delay_ = std::min(retry_delay_ * 2, kRetryDelayMax);
  arm(now + retry_delay_);
  resend();
  if (!finished_) advance();
}

void Operation::on_view_changed() {
  if (epoch_ != 0) {
    const auto owners = view().owners(partition_);
    const bool same =
        view().ring().changed_at(partition_) <= epoch_ &&
        std::equal(owners.begin(), owners.end(), owners_.begin(), owners_.begin() + owner_count_);
    if (!same) restart();
  }
  if (!finished_) advance();
}

void Operation::on_peer_lost(const Address& peer) {
  for (uint32_t waiting = awaited_; waiting != 0; waiting &= waiting - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(waiting));
    if (!is_self(index) && context().address_of(owners_[index]) == peer) {
      stream_lost_ |= 1u << index;
    }
  }
  if ((awaited_ & stream_lost_) != 0) advance();
}

void Operation::on_client_lost() {
  answered_ = true;
  if (!outlives_client()) finish();
}

void Operation::address_owners() {
  const auto owners = view().owners(partition_);
  assert(owners.size() <= owners_.size());
  std::copy(owners.begin(), owners.end(), owners_.begin());
  owner_count_ = static_cast<uint32_t>(owners.size());
  epoch_ = view().epoch();
  id_ += kOperationGeneration;
  awaited_ = 0;
  stream_lost_ = 0;
}

std::optional<uint32_t> Operation::index_of(NodeId id) const {
  for (uint32_t i = 0; i < owner_count_; ++i) {
    if (owners_[i] == id) return i;
  }
  return std::nullopt;
}

bool Operation::reachable(uint32_t index) const {
  const membership::Liveness liveness = context().liveness_of(owners_[index]);
  return liveness == membership::Liveness::kAlive || liveness == membership::Liveness::kSuspect;
}

bool Operation::may_yet_be_heard(uint32_t index) const {
  const membership::MemberInfo* heard = context().heard_of(owners_[index]);
  return heard != nullptr && heard->incarnation == 0 &&
         context().now.at - heard->since < kFirstWordMax;
}

bool Operation::check_reachable(uint32_t needed) {
  uint32_t missing = 0;
  uint32_t unheard = 0;
  for (uint32_t i = 0; i < owner_count_; ++i) {
    if (reachable(i)) continue;
    missing |= 1u << i;
    unheard += may_yet_be_heard(i);
  }
  const uint32_t found = owner_count_ - static_cast<uint32_t>(std::popcount(missing));
  if (found >= needed) return true;
  if (found + unheard >= needed) return false;  // looks again when the timer fires
  std::string message = "needs " + std::to_string(needed) + " of " + std::to_string(owner_count_) +
                        (owner_count_ == 1 ? " replica" : " replicas");
  if (missing != 0) message += "; missing: " + names(missing);
  fail(ErrorReply::kUnavailable, std::move(message));
  return false;
}

void Operation::note_refusal(uint32_t index, uint64_t epoch) {
  if (epoch > view().epoch()) {
    services_.hooks.behind(context().address_of(owners_[index]), epoch);
  }
  const Instant soon = context().now.at + kRetryDelayRefused;
  if (hurried_ || retry_at_ <= soon) return;
  hurried_ = true;
  retry_delay_ = kRetryDelayFirst / 2;
  arm(soon);
}

void Operation::send(uint32_t index, pb::Envelope& message) {
  await(index);
  stream_lost_ &= ~(1u << index);
  context().send(context().address_of(owners_[index]), Channel::kStream, message);
}

std::string Operation::who_answered(uint64_t answered, uint64_t failed) const {
  const uint64_t silent = ((uint64_t{1} << owner_count_) - 1) & ~answered & ~failed;
  std::string text;
  const auto add = [&](uint64_t owners, const char* did) {
    if (owners == 0) return;
    if (!text.empty()) text += ", ";
    text += names(owners) + did;
  };
  add(answered, " answered");
  add(failed, " failed");
  add(silent, text.empty() ? " did not answer" : " did not");
  return text;
}

void Operation::answer(Reply reply) {
  if (answered_) return;
  answered_ = true;
  context().env.answer(request_, std::move(reply));
}

void Operation::fail(ErrorReply::Code code, std::string message) {
  if (code == ErrorReply::kUnavailable) ++context().metrics.unavailable;
  if (code == ErrorReply::kTimeout) ++context().metrics.timeouts;
  answer(ErrorReply{code, std::move(message)});
  finish();
}

bool Operation::go_on_in_background(size_t bytes) {
  const size_t kept = bytes + sizeof(*this);
  if (kept > services_.repairs.bytes_max - services_.repairs.bytes) return false;
  services_.repairs.bytes += kept;
  kept_bytes_ = kept;
  return true;
}

void Operation::finish() {
  finished_ = true;
  context().deadlines.cancel(std::exchange(timer_, 0));
}

void Operation::arm(Instant at) {
  context().deadlines.cancel(timer_);
  retry_at_ = std::min(at, deadline_);
  timer_ = context().deadlines.set(retry_at_, Part::kCoordinator, id_ & (kOperationGeneration - 1));
}

std::string Operation::names(uint64_t owners) const {
  std::string text;
  for (; owners != 0; owners &= owners - 1) {
    if (!text.empty()) text += ' ';
    text += context().name_of(owners_[static_cast<size_t>(std::countr_zero(owners))]);
  }
  return text;
}

}  // namespace torc::node
