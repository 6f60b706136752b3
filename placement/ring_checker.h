// The ring checker: whether a table keeps what its policy promises, and whether the daemons of a
// cluster agree on it. Each violation is a sentence that names the partition, member or daemon; no
// sentences, no violations. Pure; `torc check` and `torc placement check` print what it says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

struct CheckedMember {
  RingMember member;
  bool is_live = true;
};

struct TableExpectation {
  std::string policy;
  uint32_t load_percent = 105;       // of the bounded policies
  std::optional<uint64_t> digest{};  // that the table should have
  size_t violations_max = 100;       // sentences; one more tells how many were left out
};

// Every partition has as many distinct owners as it can, all of them live members with weight, and
// no more in a rack than the rack rule allows; each member's count lies within the policy's bound.
// Only the bounds of `balanced` and the bounded policies are promises. Those of the others are wide
// enough for what a hash does by chance, and tell a table that was not made by it.
std::vector<std::string> check_table(const RingSnapshot& table,
                                     std::span<const CheckedMember> members,
                                     const TableExpectation& expected);

// What a daemon says of itself; nothing when it could not be asked.
struct DaemonView {
  std::string name;
  struct Ring {
    uint64_t epoch = 0;
    std::string digest;
  };
  std::optional<Ring> ring;
};

// All daemons answer and report the epoch and digest that most of them do.
std::vector<std::string> check_agreement(std::span<const DaemonView> daemons);

}  // namespace torc::placement
