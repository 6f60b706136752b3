#include "membership/relayed_pings.h"

#include <algorithm>
#include <cassert>

namespace torc::membership {

RelayedPings::RelayedPings(Duration nack_after, Duration forget_after, size_t relays_max)
    : nack_after_(nack_after), forget_after_(forget_after), relays_max_(relays_max) {}

void RelayedPings::open(uint32_t sequence, const RelayedPing& ping, Instant now) {
  assert(!full());
  waiting_[sequence] = Waiting{ping, now + nack_after_, now + forget_after_};
}

std::optional<RelayedPing> RelayedPings::on_ack(NodeId from, uint32_t sequence) {
  const auto found = waiting_.find(sequence);
  if (found == waiting_.end() || found->second.ping.target != from) return std::nullopt;
  const RelayedPing ping = found->second.ping;
  waiting_.erase(found);
  return ping;
}

std::vector<RelayedPing> RelayedPings::on_time(Instant now) {
  std::vector<RelayedPing> silent;
  for (auto it = waiting_.begin(); it != waiting_.end();) {
    Waiting& waiting = it->second;
    if (waiting.nack_at <= now) {
      silent.push_back(waiting.ping);
      waiting.nack_at = kNever;
    }
    it = waiting.forget_at <= now ? waiting_.erase(it) : std::next(it);
  }
  return silent;
}

Instant RelayedPings::next_deadline() const {
  Instant next = kNever;
  for (const auto& [sequence, waiting] : waiting_) {
    next = std::min({next, waiting.nack_at, waiting.forget_at});
  }
  return next;
}

}  // namespace torc::membership
