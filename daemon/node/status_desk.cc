#include "daemon/node/status_desk.h"

#include <algorithm>
#include <utility>

namespace torc::node {

void StatusDesk::start() {
  // A reply to an operation of the process before must not be taken for one of ours.
  last_operation_ = context_.env.random() | 1;
  on_deadline(kGaugeTimer);
}

void StatusDesk::on_command(RequestId id, StatusOperation::Kind kind) {
  if (operations_.size() == kOperationsMax) {
    return context_.env.answer(
        id, ErrorReply{ErrorReply::kUnavailable, "too many status requests are running"});
  }
  do {
    ++last_operation_;
  } while (last_operation_ == kGaugeTimer);
  const auto [at, is_new] =
      operations_.try_emplace(last_operation_, context_, id, kind, last_operation_);
  at->second.start();
  waiting_.push_back({{}, last_operation_});
  ask_disk();
}

void StatusDesk::on_question(const pb::Envelope& message) {
  if (waiting_.size() >= kQuestionsMax) return;
  waiting_.push_back({Address::from_bytes(message.sender()), message.status().operation()});
  ask_disk();
}

void StatusDesk::on_reply(const pb::Envelope& message) {
  const auto at = operations_.find(message.status_reply().operation());
  if (at == operations_.end()) return;
  if (at->second.on_reply({message.from()}, message.status_reply())) operations_.erase(at);
}

void StatusDesk::ask_disk() {
  if (std::exchange(disk_is_asked_, true)) return;
  asked_ = std::exchange(waiting_, {});
  context_.submit(Part::kStatus, 0, storage::ReadUsage{});
}

void StatusDesk::on_storage_done(const storage::StorageResult& result) {
  disk_is_asked_ = false;
  const std::vector<Question> asked = std::exchange(asked_, {});
  if (result.status.ok()) {
    pb::StatusReply reply = reply_from(std::get<storage::ReadUsageResult>(result.value));
    context_.metrics.keys = reply.keys();
    context_.metrics.bytes = reply.bytes();
    for (const Question& question : asked) {
      reply.set_operation(question.operation);
      if (question.peer) {
        pb::Envelope message;
        *message.mutable_status_reply() = reply;
        context_.send(question.peer, Channel::kStream, message);
        continue;
      }
      const auto own = operations_.find(question.operation);
      if (own != operations_.end() && own->second.on_reply(context_.self, reply)) {
        operations_.erase(own);
      }
    }
  } else {
    // The operations answer at their deadlines, and show this daemon as silent.
    context_.env.log(LogLevel::kError, "usage cannot be read: " + result.status.message());
  }
  if (!waiting_.empty()) ask_disk();
}

pb::StatusReply StatusDesk::reply_from(const storage::ReadUsageResult& usage) {
  const ClusterView& view = *context_.view;
  pb::StatusReply reply;
  reply.set_epoch(view.epoch());
  reply.set_digest(view.digest());
  uint64_t keys = 0;
  uint64_t primary_keys = 0;
  uint64_t bytes = 0;
  const size_t partitions = std::min<size_t>(usage.partitions.size(), view.ring().partitions());
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    const storage::PartitionUsage& used = usage.partitions[partition];
    keys += used.keys;
    bytes += used.bytes;
    const auto owners = view.owners(partition);
    if (!owners.empty() && owners.front() == context_.self) primary_keys += used.keys;
  }
  reply.set_keys(keys);
  reply.set_primary_keys(primary_keys);
  reply.set_bytes(bytes);
  for (const std::string& alarm : context_.alarms) reply.add_alarms(alarm);
  return reply;
}

void StatusDesk::on_deadline(uint64_t cookie) {
  if (cookie == kGaugeTimer) {
    context_.deadlines.set(context_.now.at + kGaugeInterval, Part::kStatus, kGaugeTimer);
    return ask_disk();
  }
  const auto at = operations_.find(cookie);
  if (at == operations_.end()) return;
  at->second.on_deadline();
  operations_.erase(at);
}

void StatusDesk::on_client_lost(RequestId id) {
  for (auto at = operations_.begin(); at != operations_.end(); ++at) {
    if (at->second.client() != id) continue;
    at->second.stop();
    operations_.erase(at);
    return;
  }
}

}  // namespace torc::node
