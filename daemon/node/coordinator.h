// Coordinator: runs the clients' gets and puts, each an Operation over the owners of its key. Every
// request is answered once, within the topology's request timeout; replies of finished operations
// and of earlier attempts are ignored. Driven by its Node, which sets the view before the first
// request and bounds their number.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/node/operation.h"

namespace torc::node {

class Coordinator final : public ReplicaSink {
 public:
  // Attaches itself to `replica`.
  Coordinator(NodeContext& context, ClockKeeper& clock, Replica& replica, TopologyHooks& hooks);
  ~Coordinator() override;

  // REQUIRES: the view is set; fewer than 2^19 requests are running.
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

  // Requests that are not done. What is only repaired in the background does not count: it has a
  // bound of its own.
  size_t running() const { return running_; }

  void on_local_merge(uint64_t operation, const MergeOutcome& outcome) override;
  void on_local_read(uint64_t operation, ReadOutcome outcome) override;

 private:
  struct Slot {
    OperationId next_id = 0;  // of the operation to come
    bool running = false;
    std::unique_ptr<Operation> operation;
  };

  template <typename Kind, typename Request>
  void run(RequestId request_id, Request request);
  // Nullptr when the id is of a finished operation or an earlier attempt.
  Operation* find(OperationId id);
  // Takes stock after an operation has handled something.
  void settle(size_t slot);
  // Calls `event` on every operation, in the order of their slots.
  template <typename Event>
  void for_each(Event event);

  OperationServices services_;
  const OperationId first_generation_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  size_t running_ = 0;
};

}  // namespace torc::node
