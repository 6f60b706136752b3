// RelayedPings: pings this daemon sent because another one asked for help with a probe. Each is
// answered with the target's ack, however late within the probe interval, and with one nack when
// the target stays silent. At most `relays_max` wait at once. Used only by Gossip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "membership/address.h"
#include "membership/instant.h"
#include "membership/node_id.h"

namespace torc::membership {

struct RelayedPing {
  NodeId target;
  Address requester;
  uint32_t requester_sequence = 0;
};

class RelayedPings {
 public:
  RelayedPings(Duration nack_after, Duration forget_after, size_t relays_max = 256);

  bool full() const { return waiting_.size() >= relays_max_; }
  // REQUIRES: not full. `sequence` is the one of our own ping.
  void open(uint32_t sequence, const RelayedPing& ping, Instant now);
  // Whom to pass this ack on to; nullopt when nobody waits for it.
  std::optional<RelayedPing> on_ack(NodeId from, uint32_t sequence);
  // Those that now deserve a nack.
  std::vector<RelayedPing> on_time(Instant now);
  Instant next_deadline() const;

 private:
  struct Waiting {
    RelayedPing ping;
    Instant nack_at;  // kNever once sent
    Instant forget_at;
  };
  const Duration nack_after_;
  const Duration forget_after_;
  const size_t relays_max_;
  std::map<uint32_t, Waiting> waiting_;
};

}  // namespace torc::membership
