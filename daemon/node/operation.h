// Operation: one client request that waits for replicas, and what all kinds share: the set it
// addresses, who has answered, its one timer. It answers its client exactly once, within the
// deadline, and is driven by the Coordinator only. Each kind decides in one place, advance().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "daemon/node/clock_keeper.h"
#include "daemon/node/context.h"
#include "daemon/node/replica.h"
#include "daemon/node/topology_hooks.h"

namespace torc::node {

// What operations act through.
struct OperationServices {
  NodeContext& context;
  ClockKeeper& clock;
  Replica& replica;
  TopologyHooks& hooks;
};

// The longest preference list (Topology allows a replication of 16).
constexpr size_t kOwnersMax = 16;

// An attempt's id, generation << 32 | slot: an answer that carries another one is nobody's.
using OperationId = uint64_t;

class Operation {
 public:
  Operation(OperationServices services, RequestId request, OperationId id);
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  virtual void start() = 0;
  virtual void on_merge_outcome(NodeId from, const Address& sender,
                                const MergeOutcome& outcome) = 0;
  virtual void on_read_outcome(NodeId from, const Address& sender, ReadOutcome outcome) = 0;
  virtual void on_view_changed() = 0;
  virtual void on_clock_ready() = 0;
  // The one timer fired: a resend is due, or the deadline has come.
  void on_timer();
  void on_peer_lost(const Address& peer);
  void on_client_lost();

  RequestId request() const { return request_; }
  // The client has its answer, or is gone.
  bool answered() const { return answered_; }
  // Nothing more is to happen; the coordinator may forget it.
  bool finished() const { return finished_; }

 private:
  OperationServices services_;
  RequestId request_;
  OperationId id_;
  bool answered_ = false;
  bool finished_ = false;
};

}  // namespace torc::node
