// A claim policy: the pure function (previous table, members, parameters) -> next table. The same
// input gives the same bytes on every machine, whatever the order of the members; errors name the
// culprit. Pure.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>

#include "placement/ring_snapshot.h"

namespace torc::placement {

struct ClaimParameters {
  std::string policy;  // "token-ring"
  uint32_t partitions = 4096;
  uint32_t replication = 3;
  uint64_t epoch =
      1;  // partitions whose owners differ from the previous table's get this changed_at
};

// The largest table there can be.
constexpr size_t kMembersMax = 4096;
constexpr uint32_t kPartitionsMax = 65'536;
constexpr uint32_t kReplicationMax = 16;

// `previous` may be null (the first epoch).
std::expected<RingSnapshot, std::string> next_table(const RingSnapshot* previous,
                                                    std::span<const RingMember> members,
                                                    const ClaimParameters& parameters);

// Whether `name` is a policy this program knows.
bool is_policy(std::string_view name);

}  // namespace torc::placement
