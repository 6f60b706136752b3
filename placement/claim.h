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
  std::string policy;  // a name of policy_names()
  uint32_t partitions = 4096;
  uint32_t replication = 3;
  uint64_t epoch = 1;           // becomes changed_at of the partitions whose owners differ
  uint32_t load_percent = 105;  // the bounded policies' limit, in percent of a member's share
};

// The largest table there can be.
constexpr size_t kMembersMax = 4096;
constexpr uint32_t kPartitionsMax = 65'536;
constexpr uint32_t kReplicationMax = 16;
constexpr uint32_t kWeightMax = 1'000'000;
constexpr size_t kNameBytesMax = 255;
constexpr uint32_t kLoadPercentMax = 1000;

// `previous` may be null (the first epoch); it may name members that are gone, have another
// replication, or come from another policy. A member is its name: one that comes back under its
// name has moved nothing. Names are 1 to 255 bytes of printable ASCII without spaces, '#' included.
// Lists that cannot be full are short, and the snapshot's shortfall() counts what is missing.
std::expected<RingSnapshot, std::string> next_table(const RingSnapshot* previous,
                                                    std::span<const RingMember> members,
                                                    const ClaimParameters& parameters);

// What is wrong with the members, as next_table would say it; empty: nothing. The policy matters
// only for the sum of the weights. REQUIRES: sorted by name.
std::string check_members(std::span<const RingMember> members, std::string_view policy);

// Whether `name` is a policy this program knows.
bool is_policy(std::string_view name);

}  // namespace torc::placement
