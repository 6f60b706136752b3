// Replica: this daemon's own share of the data: it checks each request's stamp as it enters the
// storage queue and answers only when storage has. A write is acknowledged after it is durable, and
// a refused request has touched nothing. Driven by its Node; the local Coordinator has a direct
// entry that serializes nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/node/context.h"
#include "daemon/node/topology_hooks.h"

namespace torc::node {

// One replica's word on a merge or a read, whether it came by message or from the local Replica.
struct MergeOutcome {
  pb::ReplicaStatus status = pb::OK;
  uint64_t epoch = 0;
  storage::Version stale{};  // STALE: the newer version
  bool existed = false;
};
struct ReadOutcome {
  pb::ReplicaStatus status = pb::OK;
  uint64_t epoch = 0;
  std::string record{};  // empty = absent
};

// Who hears the outcome of local requests; never before the call that made them has returned.
class ReplicaSink {
 public:
  virtual ~ReplicaSink() = default;
  virtual void on_local_merge(uint64_t operation, const MergeOutcome& outcome) = 0;
  virtual void on_local_read(uint64_t operation, ReadOutcome outcome) = 0;
};

class Replica {
 public:
  Replica(NodeContext& context, TopologyHooks& hooks) : context_(context), hooks_(hooks) {}

  // REQUIRES: called before the first local request.
  void attach(ReplicaSink& sink) { sink_ = &sink; }

  // A peer's MergeRequest or ReadRequest; its key and record are moved out of the message.
  void on_merge(pb::Envelope& message);
  void on_read(pb::Envelope& message);

  // The local coordinator's requests, stamped with `epoch`. OK: accepted, the outcome comes through
  // the sink. Anything else is the refusal, and nothing more follows. `record` must be an encoded
  // record whose value version is `version`. REQUIRES: the view is set, `partition` is the key's.
  pb::ReplicaStatus merge_local(uint64_t operation, uint64_t epoch, uint32_t partition,
                                const storage::Version& version, std::string key,
                                std::string record);
  pb::ReplicaStatus read_local(uint64_t operation, uint64_t epoch, uint32_t partition,
                               std::string key);

  // A storage request of Part::kReplica was answered.
  void on_storage_done(uint64_t cookie, storage::StorageResult& result);

  // Requests that wait for storage.
  size_t pending() const { return pending_count_; }

 private:
  // A request in the storage queue. Slots are reused; the generation tells one use from the next.
  struct Pending {
    bool in_use = false;
    bool is_merge = false;
    bool local = false;
    uint32_t generation = 0;
    uint64_t operation = 0;
    storage::Version version{};  // of the merge
    Address reply_to{};          // of a peer's request
  };

  uint64_t own_epoch() const { return context_.view ? context_.view->epoch() : 0; }
  // Whether a request stamped with `epoch` may enter the partition's queue: OK or the refusal.
  pb::ReplicaStatus check_stamp(uint64_t epoch, uint32_t partition) const;
  pb::ReplicaStatus check_open_and_room(bool is_write) const;
  // OK, or why a peer's request does not enter the queue; tells the hooks of a newer epoch.
  pb::ReplicaStatus check_peer(const Address& sender, uint64_t epoch, uint32_t partition,
                               const std::string& key, bool is_write);
  // Takes a slot; its cookie for the storage queue.
  uint64_t admit(Pending request);
  void submit_merge(uint64_t cookie, uint32_t partition, std::string key, std::string record);
  void submit_read(uint64_t cookie, uint32_t partition, std::string key);

  void finish_merge(const Pending& request, const storage::StorageResult& result);
  void finish_read(const Pending& request, storage::StorageResult& result);
  void reply_merge(const Address& to, uint64_t operation, const MergeOutcome& outcome);
  void reply_read(const Address& to, uint64_t operation, ReadOutcome outcome);

  NodeContext& context_;
  TopologyHooks& hooks_;
  ReplicaSink* sink_ = nullptr;
  std::vector<Pending> slots_;
  std::vector<uint32_t> free_slots_;
  size_t pending_count_ = 0;
  bool alarmed_ = false;
  pb::Envelope reply_;  // reused
};

}  // namespace torc::node
