#include "daemon/node/get_operation.h"

#include <cassert>
#include <utility>

#include "storage/reconcile.h"

namespace torc::node {

using storage::RecordView;

GetOperation::GetOperation(OperationServices& services, RequestId request_id, OperationId id,
                           uint32_t partition, GetRequest request)
    : Operation(services, request_id, id, partition), level_(request.level) {
  ask_.mutable_read()->set_key(std::move(request.key));
}

void GetOperation::advance() {
  while (!finished()) {
    switch (stage_) {
      case Stage::kAsking: {
        address_owners();
        const auto needed = replicas_needed(level_, owner_count());
        if (!needed) return fail(ErrorReply::kError, needed.error());
        if (!check_reachable(*needed)) return;
        replies_ = QuorumTally(owner_count(), *needed);
        placed_ = QuorumTally(owner_count(), owner_count() / 2 + 1);
        stage_ = Stage::kReading;
        for (uint32_t i = 0; i < owner_count(); ++i) {
          if (reachable(i)) ask(i);
        }
        break;
      }

      case Stage::kReading:
        if (replies_.state() == QuorumTally::State::kPending) return;
        if (replies_.state() == QuorumTally::State::kLost) return give_up();
        choose();
        break;

      case Stage::kPlacing:
        if (placed_.state() == QuorumTally::State::kPending) return;
        if (placed_.state() == QuorumTally::State::kLost) return give_up();
        tell_client();
        break;

      case Stage::kRepairing:
        if (awaited() != 0) return;
        finish();
        break;
    }
  }
}

void GetOperation::on_read_outcome(NodeId from, ReadOutcome outcome) {
  const auto index = index_of(from);
  if (stage_ == Stage::kAsking || !index) return;
  if (replies_.agreed(*index) || replies_.failed(*index)) return;  // a doubled reply
  heard_from(*index);
  switch (outcome.status) {
    case pb::OK:
      if (stage_ != Stage::kReading) {
        note_late_record(*index, std::move(outcome.record));
      } else if (join_in(*index, std::move(outcome.record))) {
        replies_.agree(*index);
      } else {
        replies_.fail(*index);
      }
      break;
    case pb::BEHIND:
    case pb::AHEAD:
    case pb::NOT_OWNER:
    case pb::BUSY:
      note_refusal(*index, outcome.epoch);
      break;
    default:
      replies_.fail(*index);
      if (stage_ == Stage::kPlacing) placed_.fail(*index);
      break;
  }
  advance();
}

void GetOperation::on_merge_outcome(NodeId from, const MergeOutcome& outcome) {
  const auto index = index_of(from);
  if (!index || !replies_.agreed(*index)) return;  // nothing was written back there
  heard_from(*index);
  if (stage_ == Stage::kPlacing) {
    switch (outcome.status) {
      case pb::OK:
      case pb::STALE:  // it holds something newer, so this too
        placed_.agree(*index);
        break;
      case pb::BEHIND:
      case pb::AHEAD:
      case pb::NOT_OWNER:
      case pb::BUSY:
        note_refusal(*index, outcome.epoch);
        break;
      default:
        placed_.fail(*index);
        break;
    }
  }
  advance();
}

void GetOperation::restart() {
  if (stage_ == Stage::kRepairing) return finish();
  stage_ = Stage::kAsking;
  read_.clear();
  holders_ = 0;
  write_back_.clear_message();
}

void GetOperation::resend() {
  if (stage_ != Stage::kReading && stage_ != Stage::kPlacing) return;
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if (!reachable(i)) continue;
    if (!replies_.agreed(i) && !replies_.failed(i)) {
      ask(i);
    } else if (stage_ == Stage::kPlacing && !placed_.agreed(i) && !placed_.failed(i)) {
      write_back(i);
    }
  }
}

void GetOperation::give_up() {
  if (stage_ == Stage::kRepairing) return finish();
  const QuorumTally& tally = stage_ == Stage::kPlacing ? placed_ : replies_;
  std::string who = who_answered(tally.agreed_set(), tally.failed_set());
  if (tally.state() == QuorumTally::State::kLost) {
    fail(ErrorReply::kError, "storage failed: " + who);
  } else {
    fail(ErrorReply::kTimeout, std::move(who));
  }
}

void GetOperation::ask(uint32_t index) {
  pb::ReadRequest& read = *ask_.mutable_read();
  read.set_operation(id());
  read.set_epoch(epoch());
  read.set_partition(partition());
  if (!is_self(index)) {
    send(index, ask_);
    return;
  }
  if (is_awaited(index)) return;  // storage always answers
  if (services().replica.read_local(id(), epoch(), partition(), read.key()) == pb::OK) {
    await(index);
  } else {
    note_refusal(index, view().epoch());
  }
}

bool GetOperation::join_in(uint32_t index, std::string record) {
  const uint32_t bit = 1u << index;
  if (record == read_) {
    holders_ |= bit;
    return true;
  }
  const auto mine = RecordView::parse(read_);
  const auto theirs = RecordView::parse(record);
  assert(mine.has_value());
  if (!theirs) return false;
  const RecordView joined = storage::join(*mine, *theirs);
  if (joined == *mine) {
    if (joined == *theirs) holders_ |= bit;
  } else if (joined == *theirs) {
    read_ = std::move(record);
    holders_ = bit;
  } else {
    read_ = storage::encode(joined);
    holders_ = 0;
  }
  return true;
}

bool GetOperation::covers(const std::string& record) const {
  if (record == read_) return true;
  const auto mine = RecordView::parse(read_);
  const auto theirs = RecordView::parse(record);
  return mine && theirs && storage::join(*mine, *theirs) == *theirs;
}

void GetOperation::choose() {
  if (replies_.agreed_count() < owner_count() / 2 + 1) {
    // Below a majority a read promises nothing, so there is nothing to make sure of.
    tell_client();
    finish();
    return;
  }
  stage_ = Stage::kPlacing;
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if (replies_.failed(i)) placed_.fail(i);
    if (!replies_.agreed(i)) continue;
    if ((holders_ >> i & 1) != 0) {
      placed_.agree(i);
    } else {
      repair(i);
    }
  }
}

// The choice stands by now: before the client's answer a late record only shows whether one more
// replica holds what was chosen, after it anything newer is passed on as well.
void GetOperation::note_late_record(uint32_t index, std::string record) {
  if (!RecordView::parse(record)) {
    replies_.fail(index);
    if (stage_ == Stage::kPlacing) placed_.fail(index);
    return;
  }
  replies_.agree(index);
  if (stage_ == Stage::kPlacing) {
    if (covers(record)) {
      placed_.agree(index);
    } else {
      repair(index);
    }
    return;
  }
  if (record == read_) return;
  const std::string before = read_;
  join_in(index, std::move(record));
  const bool is_news = read_ != before;
  if (is_news) write_back_.clear_message();
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if ((is_news || i == index) && replies_.agreed(i) && (holders_ >> i & 1) == 0) repair(i);
  }
}

void GetOperation::repair(uint32_t index) {
  ++context().metrics.read_repairs;
  write_back(index);
}

void GetOperation::write_back(uint32_t index) {
  if (!write_back_.has_merge()) {
    pb::MergeRequest& merge = *write_back_.mutable_merge();
    merge.set_operation(id());
    merge.set_epoch(epoch());
    merge.set_partition(partition());
    merge.set_key(ask_.read().key());
    merge.set_record(read_);
  }
  if (!is_self(index)) {
    send(index, write_back_);
    return;
  }
  if (is_awaited(index)) return;  // storage always answers
  const pb::MergeRequest& merge = write_back_.merge();
  const auto record = RecordView::parse(read_);
  assert(record.has_value());
  const pb::ReplicaStatus status = services().replica.merge_local(
      id(), epoch(), partition(), record->version, merge.key(), merge.record());
  if (status == pb::OK) {
    await(index);
  } else {
    note_refusal(index, view().epoch());
  }
}

void GetOperation::tell_client() {
  const auto record = RecordView::parse(read_);
  assert(record.has_value());
  GetReply reply;
  reply.found = record->is_live(context().hlc.read(context().now.wall_ms));
  if (reply.found) {
    reply.value_offset = read_.size() - record->value.size();
    const storage::Expiry& expiry = record->expiry;
    if (expiry.of == record->version && expiry.expires_at != 0) {
      reply.expires_at_ms = storage::Hlc::to_ms(expiry.expires_at);
    }
  }
  const bool goes_on = awaited() != 0 && go_on_in_background(read_.size());
  reply.record = goes_on ? read_ : std::move(read_);
  answer(std::move(reply));
  if (goes_on) {
    stage_ = Stage::kRepairing;
  } else {
    finish();
  }
}

}  // namespace torc::node
