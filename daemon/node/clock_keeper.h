// ClockKeeper: mints the versions of this daemon's writes, below a durable ceiling. No time is
// minted twice, not over a restart either, because a daemon starts above the ceiling it stored
// last. Used only by its Node and the Coordinator.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "daemon/node/context.h"

namespace torc::node {

class ClockKeeper {
 public:
  // The durable name under which the ceiling is kept (8 bytes, little-endian).
  static constexpr std::string_view kCeilingName = "hlc_ceiling";
  // How far ahead of the clock the ceiling is stored, and how little may be left before it is
  // raised.
  static constexpr int64_t kCeilingAheadMs = 60'000;
  static constexpr int64_t kCeilingLeftMsMin = 30'000;

  explicit ClockKeeper(NodeContext& context) : context_(context) {}

  // Nullopt when the bytes are not a stored ceiling.
  static std::optional<uint64_t> decode_ceiling(std::string_view bytes);

  // `stored_ceiling` is what the disk holds, 0 on an empty one. Begins to raise it.
  void start(uint64_t stored_ceiling);

  // A time that no other call ever returns, above everything the clock has seen; nullopt while the
  // clock has reached the ceiling, which is then being raised. REQUIRES: started.
  std::optional<uint64_t> mint();

  // A storage request of Part::kClock was answered. True when the ceiling rose, so that those who
  // wait for the clock may try again; false when the disk refused, and the next mint() tries again.
  bool on_storage_done(uint64_t cookie, const storage::StorageResult& result);

 private:
  void raise_ceiling();

  NodeContext& context_;
  uint64_t ceiling_ = 0;   // durable
  uint64_t proposed_ = 0;  // being stored; 0 when no write is in flight
};

}  // namespace torc::node
