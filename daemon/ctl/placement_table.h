// A ring table as JSON, for saving and for `torc placement check`: {policy, partitions,
// replication, table_digest, members: [{name, weight, rack, liveness}], owners: [[name, ...],
// ...]}, a list of names for each partition. What is read is checked for its form only; whether the
// table is right is for the ring checker. Plain functions.
#pragma once

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/ring_checker.h"
#include "placement/ring_snapshot.h"

namespace torc::ctl {

struct SavedTable {
  placement::RingSnapshot table;
  std::vector<placement::CheckedMember> members;
  placement::TableExpectation expected;
  std::vector<std::string> violations;  // that a RingSnapshot cannot hold
};

std::string table_json(const placement::RingSnapshot& table,
                       std::span<const placement::RingMember> members, std::string_view policy);

// `liveness` may be missing (alive), as may `weight` (1), `rack` and `table_digest`.
std::expected<SavedTable, std::string> read_table(std::string_view json);

}  // namespace torc::ctl
