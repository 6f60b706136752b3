#include "daemon/node/quorum_tally.h"

#include <bit>
#include <cassert>

namespace torc::node {

void QuorumTally::agree(uint32_t replica) {
  assert(replica < replicas_);
  if (!failed(replica)) agreed_ |= uint64_t{1} << replica;
}

void QuorumTally::fail(uint32_t replica) {
  assert(replica < replicas_);
  if (!agreed(replica)) failed_ |= uint64_t{1} << replica;
}

uint32_t QuorumTally::agreed_count() const {
  return static_cast<uint32_t>(std::popcount(agreed_));
}

QuorumTally::State QuorumTally::state() const {
  if (agreed_count() >= needed_) return State::kMet;
  const auto failed_count = static_cast<uint32_t>(std::popcount(failed_));
  return replicas_ - failed_count < needed_ ? State::kLost : State::kPending;
}

}  // namespace torc::node
