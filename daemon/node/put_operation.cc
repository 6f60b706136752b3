#include "daemon/node/put_operation.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "storage/record.h"

namespace torc::node {
namespace {

// Times beyond the clock's range are cut to it; 0 would mean "never", so what is past expires at 1.
uint64_t expiry_from_ms(int64_t ms) {
  constexpr int64_t kMsMax = (int64_t{1} << 48) - 1;
  return std::max<uint64_t>(storage::Hlc::from_ms(std::clamp<int64_t>(ms, 0, kMsMax)), 1);
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return b < 0 ? INT64_MIN : INT64_MAX;
  return sum;
}

}  // namespace

PutOperation::PutOperation(OperationServices& services, RequestId request_id, OperationId id,
                           uint32_t partition, PutRequest request)
    : Operation(services, request_id, id, partition),
      level_(request.level),
      tombstone_(request.tombstone),
      value_(std::move(request.value)) {
  if (request.expires_at_ms) expires_at_ = expiry_from_ms(*request.expires_at_ms);
  if (request.expires_in_ms) {
    // From the clock that readers compare with, so that it never ends early.
    const uint64_t now_hlc = context().hlc.read(context().now.wall_ms);
    expires_at_ =
        expiry_from_ms(saturating_add(storage::Hlc::to_ms(now_hlc), *request.expires_in_ms));
  }
  merge_.mutable_merge()->set_key(std::move(request.key));
}

void PutOperation::advance() {
  while (!finished()) {
    switch (stage_) {
      case Stage::kOpening:
        if (!view().writes_open()) {
          services().hooks.open_writes();
          return;
        }
        if (!choose_owners()) return;
        stage_ = Stage::kMinting;
        break;

      case Stage::kMinting: {
        const auto hlc = services().clock.mint();
        if (!hlc) return;
        encode_record(*hlc);
        stage_ = Stage::kPlacing;
        place();
        break;
      }

      case Stage::kPlacing:
        switch (tally_.state()) {
          case QuorumTally::State::kMet:
            answer(PutReply{.existed = existed_, .version = version_});
            finish();
            return;
          case QuorumTally::State::kLost:
            if (stale_ == 0) {
              give_up();
              return;
            }
            break;
          case QuorumTally::State::kPending:
            if (stale_ == 0 || can_be_met_without_stale()) return;
            break;
        }
        try_a_newer_version();
        break;
    }
  }
}

void PutOperation::on_merge_outcome(NodeId from, const MergeOutcome& outcome) {
  const auto index = index_of(from);
  if (stage_ != Stage::kPlacing || !index) return;
  heard_from(*index);
  existed_ |= outcome.existed;
  switch (outcome.status) {
    case pb::OK:
      tally_.agree(*index);
      break;
    case pb::STALE:
      tally_.fail(*index);
      // What is minted next is above it.
      if (context().observe(outcome.stale.hlc) && tally_.failed(*index)) stale_ |= 1u << *index;
      break;
    case pb::BEHIND:
    case pb::AHEAD:
    case pb::NOT_OWNER:
    case pb::BUSY:
      note_refusal(*index, outcome.epoch);
      break;
    default:
      tally_.fail(*index);
      break;
  }
  advance();
}

void PutOperation::restart() {
  if (stage_ != Stage::kPlacing) {
    stage_ = Stage::kOpening;  // nothing of this attempt was sent
    return;
  }
  if (choose_owners()) place();
}

void PutOperation::resend() {
  if (stage_ != Stage::kPlacing) return;
  if (stale_ != 0) {
    // The others have had their time; the stale ones are there and take a newer version.
    try_a_newer_version();
    return;
  }
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if (!tally_.agreed(i) && !tally_.failed(i) && reachable(i)) send_to(i);
  }
}

void PutOperation::give_up() {
  if (sent_) {
    fail(ErrorReply::kTimeout,
         "outcome unknown: " +
             who_answered(tally_.agreed_set() | stale_, tally_.failed_set() & ~uint64_t{stale_}));
  } else if (stage_ == Stage::kOpening) {
    fail(ErrorReply::kUnavailable, "no epoch that is open for writes came in time");
  } else {
    fail(ErrorReply::kUnavailable, "the clock's ceiling could not be stored in time");
  }
}

bool PutOperation::choose_owners() {
  address_owners();
  const auto needed = replicas_needed(level_, owner_count());
  if (!needed) {
    if (sent_) {
      fail(ErrorReply::kTimeout, "outcome unknown: now it is " + needed.error());
    } else {
      fail(ErrorReply::kError, needed.error());
    }
    return false;
  }
  needed_ = *needed;
  // Once a replica may have it, waiting until the deadline is better than an unknown outcome.
  return sent_ || check_reachable(needed_);
}

void PutOperation::encode_record(uint64_t hlc) {
  pb::MergeRequest& merge = *merge_.mutable_merge();
  const std::string previous = std::move(*merge.mutable_record());
  const std::string_view value =
      version_ ? std::string_view(previous).substr(value_offset_) : std::string_view(value_);

  // Without an expiry nothing is written of one: an older expiry is of an older value, so it is
  // void.
  version_ = {hlc, context().self};
  storage::RecordView record{
      .version = version_, .tombstone = tombstone_, .value = value, .expiry = {}};
  if (expires_at_ != 0 && !tombstone_) record.expiry = {version_, version_, expires_at_};
  std::string encoded = storage::encode(record);
  value_offset_ = encoded.size() - value.size();
  merge.set_record(std::move(encoded));
  value_ = std::string();
}

void PutOperation::place() {
  tally_ = QuorumTally(owner_count(), needed_);
  stale_ = 0;
  pb::MergeRequest& merge = *merge_.mutable_merge();
  merge.set_operation(id());
  merge.set_epoch(epoch());
  merge.set_partition(partition());
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if (reachable(i)) send_to(i);
  }
}

void PutOperation::send_to(uint32_t index) {
  if (!is_self(index)) {
    sent_ = true;
    send(index, merge_);
    return;
  }
  if (is_awaited(index)) return;  // storage always answers
  const pb::MergeRequest& merge = merge_.merge();
  const pb::ReplicaStatus status = services().replica.merge_local(
      id(), epoch(), partition(), version_, merge.key(), merge.record());
  if (status == pb::OK) {
    sent_ = true;
    await(index);
  } else {
    note_refusal(index, view().epoch());
  }
}

bool PutOperation::can_be_met_without_stale() const {
  uint32_t hopeful = tally_.agreed_count();
  for (uint32_t i = 0; i < owner_count(); ++i) {
    if (is_expected(i) && reachable(i)) ++hopeful;
  }
  return hopeful >= needed_;
}

void PutOperation::try_a_newer_version() {
  ++context().metrics.stale_retries;
  stage_ = Stage::kOpening;
}

}  // namespace torc::node
