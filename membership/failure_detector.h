// FailureDetector: SWIM's probing. One member per interval, each once per shuffled round: a direct
// ping, then after a timeout indirect ones through helpers, and at the end of the interval a
// verdict. It knows no addresses and no liveness and acts only through ProbeHost; used only by
// Gossip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membership/instant.h"
#include "membership/node_id.h"

namespace torc::membership {

// A probe that nobody answered with an ack.
struct Silence {
  NodeId target;
  size_t helpers = 0;  // asked
  size_t nacks =
      0;  // helpers that said the target is silent for them too; the others may be out of our reach
};

class ProbeHost {
 public:
  virtual ~ProbeHost() = default;
  virtual bool may_probe(NodeId id) const = 0;
  // Up to `count` random members that can be asked to ping `target`.
  virtual std::vector<NodeId> helpers(NodeId target, size_t count) = 0;
  // Sends a ping; returns its sequence number.
  virtual uint32_t ping(NodeId target) = 0;
  virtual void ask_to_ping(NodeId helper, NodeId target, uint32_t sequence) = 0;
  virtual void on_silence(const Silence& silence, Instant now) = 0;
  virtual uint64_t random() = 0;
};

class FailureDetector {
 public:
  // REQUIRES: timeout < interval.
  FailureDetector(Duration interval, Duration timeout, size_t helpers_max, ProbeHost& host);

  // The first probe begins at a random moment of the first interval.
  void start(Instant now);
  // Takes the member into the running round. REQUIRES: not there yet.
  void add(NodeId id);
  void remove(NodeId id);

  void on_ack(NodeId from, uint32_t sequence);
  void on_nack(NodeId from, uint32_t sequence);
  void on_time(Instant now);
  // Drops the running probe without a verdict: this daemon itself was asleep and could hear no
  // answer.
  void overslept(Instant now);
  Instant next_deadline() const;

 private:
  void begin(Instant now);
  void ask_helpers();
  NodeId next_target();
  bool is_helper(NodeId id) const;

  const Duration interval_;
  const Duration timeout_;
  const size_t helpers_max_;
  ProbeHost& host_;

  std::vector<NodeId> round_;
  size_t next_in_round_ = 0;

  // The running probe; without target there is none, or it was answered.
  NodeId target_;
  uint32_t sequence_ = 0;
  std::vector<NodeId> helpers_;  // asked and not heard of yet
  size_t helpers_asked_ = 0;
  size_t nacks_ = 0;
  Instant ask_helpers_at_ = kNever;
  Instant interval_ends_at_ = kNever;
};

}  // namespace torc::membership
