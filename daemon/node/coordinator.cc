#include "daemon/node/coordinator.h"

#include <cassert>
#include <utility>

#include "daemon/node/get_operation.h"
#include "daemon/node/put_operation.h"

namespace torc::node {
namespace {

constexpr OperationId kSlotMask = kOperationGeneration - 1;

}  // namespace

// Generations start at random, so that an answer to this daemon's life before a restart is not
// taken for one to this life.
Coordinator::Coordinator(NodeContext& context, ClockKeeper& clock, Replica& replica,
                         TopologyHooks& hooks)
    : services_{context, clock, replica, hooks},
      first_generation_(context.env.random() & ~kSlotMask) {
  replica.attach(*this);
}

Coordinator::~Coordinator() = default;

void Coordinator::on_get(RequestId id, GetRequest request) {
  ++services_.context.metrics.gets;
  run<GetOperation>(id, std::move(request));
}

void Coordinator::on_put(RequestId id, PutRequest request) {
  ++services_.context.metrics.puts;
  if (request.value.size() > kValueBytesMax) {
    services_.context.env.answer(
        id, ErrorReply{ErrorReply::kTooBig,
                       "a value has at most " + std::to_string(kValueBytesMax) + " bytes"});
    return;
  }
  run<PutOperation>(id, std::move(request));
}

template <typename Kind, typename Request>
void Coordinator::run(RequestId request_id, Request request) {
  NodeContext& context = services_.context;
  if (request.key.size() > kKeyBytesMax) {
    context.env.answer(request_id,
                       ErrorReply{ErrorReply::kTooBig,
                                  "a key has at most " + std::to_string(kKeyBytesMax) + " bytes"});
    return;
  }
  if (free_slots_.empty()) {
    assert(slots_.size() <= kSlotMask);
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.push_back({.next_id = first_generation_ | slots_.size(), .operation = nullptr});
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  const uint32_t partition = context.view->partition_of(request.key);
  slots_[slot].operation = std::make_unique<Kind>(services_, request_id, slots_[slot].next_id,
                                                  partition, std::move(request));
  slots_[slot].running = true;
  ++running_;
  slots_[slot].operation->start();
  settle(slot);
}

void Coordinator::on_merge_reply(pb::Envelope& message) {
  const pb::MergeReply& reply = message.merge_reply();
  Operation* operation = find(reply.operation());
  if (operation == nullptr) return;
  operation->on_merge_outcome(NodeId{message.from()},
                              {.status = reply.status(),
                               .epoch = reply.epoch(),
                               .stale = {reply.stale_hlc(), NodeId{reply.stale_node()}},
                               .existed = reply.existed()});
  settle(reply.operation() & kSlotMask);
}

void Coordinator::on_read_reply(pb::Envelope& message) {
  pb::ReadReply& reply = *message.mutable_read_reply();
  Operation* operation = find(reply.operation());
  if (operation == nullptr) return;
  operation->on_read_outcome(NodeId{message.from()},
                             {.status = reply.status(),
                              .epoch = reply.epoch(),
                              .record = std::move(*reply.mutable_record())});
  settle(reply.operation() & kSlotMask);
}

void Coordinator::on_local_merge(uint64_t operation_id, const MergeOutcome& outcome) {
  Operation* operation = find(operation_id);
  if (operation == nullptr) return;
  operation->on_merge_outcome(services_.context.self, outcome);
  settle(operation_id & kSlotMask);
}

void Coordinator::on_local_read(uint64_t operation_id, ReadOutcome outcome) {
  Operation* operation = find(operation_id);
  if (operation == nullptr) return;
  operation->on_read_outcome(services_.context.self, std::move(outcome));
  settle(operation_id & kSlotMask);
}

void Coordinator::on_deadline(uint64_t cookie) {
  // A finished operation has cancelled its timer.
  assert(cookie < slots_.size() && slots_[cookie].operation);
  slots_[cookie].operation->on_timer();
  settle(cookie);
}

void Coordinator::on_view_changed() {
  for_each([](Operation& operation) { operation.on_view_changed(); });
}

void Coordinator::on_clock_ready() {
  for_each([](Operation& operation) { operation.on_clock_ready(); });
}

void Coordinator::on_peer_lost(const Address& peer) {
  for_each([&](Operation& operation) { operation.on_peer_lost(peer); });
}

void Coordinator::on_client_lost(RequestId id) {
  for_each([&](Operation& operation) {
    if (operation.request() == id) operation.on_client_lost();
  });
}

Operation* Coordinator::find(OperationId id) {
  const size_t slot = id & kSlotMask;
  if (slot >= slots_.size() || !slots_[slot].operation) return nullptr;
  Operation* operation = slots_[slot].operation.get();
  return operation->id() == id ? operation : nullptr;
}

void Coordinator::settle(size_t index) {
  Slot& slot = slots_[index];
  const bool finished = slot.operation->finished();
  if (slot.running && (finished || slot.operation->in_background())) {
    slot.running = false;
    --running_;
  }
  if (!finished) return;
  slot.next_id = slot.operation->id() + kOperationGeneration;
  slot.operation.reset();
  free_slots_.push_back(static_cast<uint32_t>(index));
}

template <typename Event>
void Coordinator::for_each(Event event) {
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!slots_[slot].operation) continue;
    event(*slots_[slot].operation);
    settle(slot);
  }
}

}  // namespace torc::node
