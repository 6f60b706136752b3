// Coordinator: runs the clients' gets and puts, each an Operation over the owners of its key. Every
// request is answered once, within the topology's request timeout; replies of finished operations
// and of earlier attempts are ignored. Driven by its Node, which sets the view before the first
// request and bounds their number.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/node/clock_keeper.h"
#include "daemon/node/context.h"
#include "daemon/node/operation.h"
#include "daemon/node/replica.h"
#include "daemon/node/topology_hooks.h"

namespace torc::node {

class Coordinator final : public ReplicaSink {
 public:
  // Attaches itself to `replica`.
  Coordinator(NodeContext& context, ClockKeeper& clock, Replica& replica, TopologyHooks& hooks);
  ~Coordinator() override;

  // REQUIRES: the view is set.
  void on_get(RequestId id, GetRequest request);
  void on_put(RequestId id, PutRequest request);

  void on_merge_reply(pb::Envelope& message);
  void on_read_reply(pb::Envelope& message);
  // A timer of Part::kCoordinator.
  void on_deadline(uint64_t cookie);
  void on_view_changed();
  void on_clock_ready();
  void on_peer_lost(const Address& peer);
  void on_client_lost(RequestId id);

  // Requests whose client still waits.
  size_t running() const { return running_; }

  void on_local_merge(uint64_t operation, const MergeOutcome& outcome) override;
  void on_local_read(uint64_t operation, ReadOutcome outcome) override;

 private:
  struct Slot {
    uint32_t generation = 0;
    std::unique_ptr<Operation> operation;
  };

  OperationServices services_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  size_t running_ = 0;
};

}  // namespace torc::node
