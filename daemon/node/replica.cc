#include "daemon/node/replica.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "storage/record.h"

namespace torc::node {
namespace {

// The header of a record of the largest value, with room for fields of later versions.
constexpr size_t kRecordBytesMax = kValueBytesMax + 1024;
constexpr int kSlotBits = 32;
constexpr uint32_t kGenerationMask = (1u << 24) - 1;  // a storage cookie has 56 bits

// A full storage queue has done nothing and will have room again.
pb::ReplicaStatus refusal_of(const Status& status) {
  return status.code() == StatusCode::kBusy ? pb::BUSY : pb::STORAGE_ERROR;
}

}  // namespace

void Replica::on_merge(pb::Envelope& message) {
  pb::MergeRequest& request = *message.mutable_merge();
  const Address sender = Address::from_bytes(message.sender());
  pb::ReplicaStatus status =
      check_peer(sender, request.epoch(), request.partition(), request.key(), true);
  storage::Version version;
  if (status == pb::OK) {
    const auto record = storage::RecordView::parse(request.record());
    // A version is stored whatever its time, as long as that is one; what this daemon mints later
    // must be above it.
    if (record && !request.record().empty() && request.record().size() <= kRecordBytesMax &&
        context_.observe(std::max(record->version.hlc, record->expiry.version.hlc))) {
      version = record->version;
    } else {
      ++context_.metrics.replica_refusals;
      status = pb::STORAGE_ERROR;
    }
  }
  if (status != pb::OK) {
    reply_merge(sender, request.operation(), {.status = status, .epoch = own_epoch()});
    return;
  }
  submit_merge(admit({.is_merge = true,
                      .operation = request.operation(),
                      .version = version,
                      .reply_to = sender}),
               request.partition(), std::move(*request.mutable_key()),
               std::move(*request.mutable_record()));
}

void Replica::on_read(pb::Envelope& message) {
  pb::ReadRequest& request = *message.mutable_read();
  const Address sender = Address::from_bytes(message.sender());
  const pb::ReplicaStatus status =
      check_peer(sender, request.epoch(), request.partition(), request.key(), false);
  if (status != pb::OK) {
    reply_read(sender, request.operation(), {.status = status, .epoch = own_epoch()});
    return;
  }
  submit_read(admit({.operation = request.operation(), .reply_to = sender}), request.partition(),
              std::move(*request.mutable_key()));
}

pb::ReplicaStatus Replica::merge_local(uint64_t operation, uint64_t epoch, uint32_t partition,
                                       const storage::Version& version, std::string key,
                                       std::string record) {
  pb::ReplicaStatus status = check_stamp(epoch, partition);
  if (status == pb::OK) status = check_open_and_room(true);
  if (status != pb::OK) return status;
  submit_merge(admit({.is_merge = true, .local = true, .operation = operation, .version = version}),
               partition, std::move(key), std::move(record));
  return pb::OK;
}

pb::ReplicaStatus Replica::read_local(uint64_t operation, uint64_t epoch, uint32_t partition,
                                      std::string key) {
  pb::ReplicaStatus status = check_stamp(epoch, partition);
  if (status == pb::OK) status = check_open_and_room(false);
  if (status != pb::OK) return status;
  submit_read(admit({.local = true, .operation = operation}), partition, std::move(key));
  return pb::OK;
}

pb::ReplicaStatus Replica::check_stamp(uint64_t epoch, uint32_t partition) const {
  if (epoch > own_epoch()) return pb::AHEAD;
  if (epoch == 0 || epoch < context_.view->ring().changed_at(partition)) return pb::BEHIND;
  const auto owners = context_.view->owners(partition);
  return std::find(owners.begin(), owners.end(), context_.self) == owners.end() ? pb::NOT_OWNER
                                                                                : pb::OK;
}

pb::ReplicaStatus Replica::check_open_and_room(bool is_write) const {
  // A client's write is stamped with an open epoch, so a closed replica found it AHEAD. What gets
  // here is the write-back of a record that a replica in a later epoch holds.
  if (is_write && !context_.view->writes_open()) return pb::BEHIND;
  return pending_count_ < context_.config.replica_requests_max ? pb::OK : pb::BUSY;
}

pb::ReplicaStatus Replica::check_peer(const Address& sender, uint64_t epoch, uint32_t partition,
                                      const std::string& key, bool is_write) {
  if (epoch > own_epoch()) {
    hooks_.behind(sender, epoch);
    return pb::AHEAD;
  }
  // Without a view the own epoch is 0, and so is that of a request which gets here.
  if (!context_.view || !sender || partition >= context_.view->ring().partitions() ||
      key.size() > kKeyBytesMax || context_.view->partition_of(key) != partition) {
    ++context_.metrics.replica_refusals;
    return pb::STORAGE_ERROR;
  }
  const pb::ReplicaStatus status = check_stamp(epoch, partition);
  return status == pb::OK ? check_open_and_room(is_write) : status;
}

uint64_t Replica::admit(Pending request) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  ++pending_count_;
  request.in_use = true;
  request.generation = (slots_[slot].generation + 1) & kGenerationMask;
  slots_[slot] = request;
  return uint64_t{request.generation} << kSlotBits | slot;
}

void Replica::submit_merge(uint64_t cookie, uint32_t partition, std::string key,
                           std::string record) {
  ++context_.metrics.replica_merges;
  context_.submit(Part::kReplica, cookie,
                  storage::MergeRecord{.partition = partition,
                                       .key = std::move(key),
                                       .record = std::move(record),
                                       .now_hlc = context_.hlc.read(context_.now.wall_ms)});
}

void Replica::submit_read(uint64_t cookie, uint32_t partition, std::string key) {
  ++context_.metrics.replica_reads;
  context_.submit(Part::kReplica, cookie,
                  storage::ReadRecord{.partition = partition, .key = std::move(key)});
}

void Replica::on_storage_done(uint64_t cookie, storage::StorageResult& result) {
  const auto slot = static_cast<uint32_t>(cookie);
  assert(slot < slots_.size() && slots_[slot].in_use &&
         slots_[slot].generation == cookie >> kSlotBits);
  const Pending request = slots_[slot];
  slots_[slot].in_use = false;
  free_slots_.push_back(slot);
  --pending_count_;

  const bool failed = !result.status.ok() && refusal_of(result.status) != pb::BUSY;
  if (failed && !alarmed_) {
    alarmed_ = true;
    context_.alarm("storage refuses requests: " + result.status.message());
  }
  if (request.is_merge) {
    finish_merge(request, result);
  } else {
    finish_read(request, result);
  }
}

void Replica::finish_merge(const Pending& request, const storage::StorageResult& result) {
  MergeOutcome outcome{.status = refusal_of(result.status), .epoch = own_epoch()};
  if (result.status.ok()) {
    const auto& merged = std::get<storage::MergeRecordResult>(result.value);
    outcome.existed = merged.existed;
    // A record of an expiry alone has no value version that could be too old.
    const bool stale = request.version && merged.stored > request.version;
    outcome.status = stale ? pb::STALE : pb::OK;
    if (stale) outcome.stale = merged.stored;
  }
  if (request.local) {
    sink_->on_local_merge(request.operation, outcome);
  } else {
    reply_merge(request.reply_to, request.operation, outcome);
  }
}

void Replica::finish_read(const Pending& request, storage::StorageResult& result) {
  ReadOutcome outcome{.status = refusal_of(result.status), .epoch = own_epoch()};
  if (result.status.ok()) {
    outcome.status = pb::OK;
    outcome.record = std::move(std::get<storage::ReadRecordResult>(result.value).record);
  }
  if (request.local) {
    sink_->on_local_read(request.operation, std::move(outcome));
  } else {
    reply_read(request.reply_to, request.operation, std::move(outcome));
  }
}

void Replica::reply_merge(const Address& to, uint64_t operation, const MergeOutcome& outcome) {
  if (!to) return;
  pb::MergeReply& reply = *reply_.mutable_merge_reply();
  reply.set_operation(operation);
  reply.set_status(outcome.status);
  reply.set_epoch(outcome.epoch);
  reply.set_stale_hlc(outcome.stale.hlc);
  reply.set_stale_node(outcome.stale.node.value);
  reply.set_existed(outcome.existed);
  context_.send(to, Channel::kStream, reply_);
}

void Replica::reply_read(const Address& to, uint64_t operation, ReadOutcome outcome) {
  if (!to) return;
  pb::ReadReply& reply = *reply_.mutable_read_reply();
  reply.set_operation(operation);
  reply.set_status(outcome.status);
  reply.set_epoch(outcome.epoch);
  reply.set_record(std::move(outcome.record));
  context_.send(to, Channel::kStream, reply_);
}

}  // namespace torc::node
