#include "daemon/node/clock_keeper.h"

#include <cassert>
#include <limits>
#include <string>

namespace torc::node {
namespace {

std::string encode_ceiling(uint64_t ceiling) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(ceiling >> (8 * i)));
  return bytes;
}

}  // namespace

std::optional<uint64_t> ClockKeeper::decode_ceiling(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  uint64_t ceiling = 0;
  for (size_t i = 8; i-- > 0;) ceiling = ceiling << 8 | static_cast<uint8_t>(bytes[i]);
  return ceiling;
}

void ClockKeeper::start(uint64_t stored_ceiling) {
  // An earlier life of this daemon may have minted everything up to there.
  context_.hlc.observe(stored_ceiling);
  ceiling_ = stored_ceiling;
  raise_ceiling();
}

std::optional<uint64_t> ClockKeeper::mint() {
  // The next tick is one above this, or the wall clock, which is part of it.
  const uint64_t latest = context_.hlc.read(context_.now.wall_ms);
  if (latest >= ceiling_) {
    raise_ceiling();
    return std::nullopt;
  }
  if (ceiling_ - latest < storage::Hlc::from_ms(kCeilingLeftMsMin)) raise_ceiling();
  return context_.hlc.tick(context_.now.wall_ms);
}

bool ClockKeeper::on_storage_done(uint64_t /*cookie*/, const storage::StorageResult& result) {
  assert(proposed_ != 0);
  if (result.status.ok()) ceiling_ = proposed_;
  proposed_ = 0;
  return result.status.ok();
}

void ClockKeeper::raise_ceiling() {
  if (proposed_ != 0) return;
  const uint64_t latest = context_.hlc.read(context_.now.wall_ms);
  const uint64_t ahead = storage::Hlc::from_ms(kCeilingAheadMs);
  constexpr uint64_t kEndOfTime = std::numeric_limits<uint64_t>::max();
  proposed_ = latest > kEndOfTime - ahead ? kEndOfTime : latest + ahead;
  context_.submit(Part::kClock, 0,
                  storage::WriteMeta{{{std::string(kCeilingName), encode_ceiling(proposed_)}}});
}

}  // namespace torc::node
