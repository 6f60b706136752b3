#include "placement/claim.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "placement/token_ring.h"

namespace torc::placement {
namespace {

constexpr uint32_t kWeightMax = 1'000'000;
constexpr size_t kNameBytesMax = 255;

std::string check_parameters(const RingSnapshot* previous, const ClaimParameters& parameters) {
  if (!is_policy(parameters.policy)) return "unknown placement policy '" + parameters.policy + "'";
  if (!std::has_single_bit(parameters.partitions) || parameters.partitions > kPartitionsMax) {
    return "partitions must be a power of two from 1 to " + std::to_string(kPartitionsMax) +
           ", not " + std::to_string(parameters.partitions);
  }
  if (parameters.replication < 1 || parameters.replication > kReplicationMax) {
    return "replication must be 1 to " + std::to_string(kReplicationMax) + ", not " +
           std::to_string(parameters.replication);
  }
  if (parameters.epoch == 0) return "epochs begin at 1";
  if (previous && previous->partitions() != parameters.partitions) {
    return "the number of partitions is fixed: " + std::to_string(previous->partitions()) +
           " cannot become " + std::to_string(parameters.partitions);
  }
  return {};
}

// Names go into messages, files and Protobuf strings.
bool is_printable(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// REQUIRES: sorted by name.
std::string check_members(std::span<const RingMember> members) {
  if (members.empty()) return "no members";
  if (members.size() > kMembersMax) {
    return std::to_string(members.size()) + " members; the most is " + std::to_string(kMembersMax);
  }
  uint64_t tokens = 0;
  for (size_t m = 0; m < members.size(); ++m) {
    const RingMember& member = members[m];
    if (member.name.empty()) return "a member without a name";
    if (member.name.size() > kNameBytesMax) {
      return "the name " + member.name.substr(0, 20) + "... is longer than " +
             std::to_string(kNameBytesMax) + " bytes";
    }
    if (!is_printable(member.name)) {
      return "member " + std::to_string(m + 1) +
             " has a name with characters other than printable ASCII";
    }
    if (m > 0 && member.name == members[m - 1].name) {
      return "two members are named '" + member.name + "'";
    }
    if (member.weight > kWeightMax) {
      return "the weight of '" + member.name + "' is " + std::to_string(member.weight) +
             "; the most is " + std::to_string(kWeightMax);
    }
    tokens += uint64_t{member.weight} * kTokensPerWeight;
  }
  if (tokens == 0) return "every member has weight 0";
  if (tokens > kTokensMax) {
    return "the weights add up to " + std::to_string(tokens / kTokensPerWeight) + "; the most is " +
           std::to_string(kTokensMax / kTokensPerWeight);
  }
  return {};
}

bool same_owners(const RingSnapshot& previous, uint32_t partition,
                 std::span<const MemberIndex> owners, std::span<const RingMember> members) {
  const auto before = previous.owners(partition);
  return std::equal(
      before.begin(), before.end(), owners.begin(), owners.end(),
      [&](MemberIndex was, MemberIndex is) { return previous.members()[was] == members[is].name; });
}

}  // namespace

bool is_policy(std::string_view name) {
  return name == "token-ring";
}

std::expected<RingSnapshot, std::string> next_table(const RingSnapshot* previous,
                                                    std::span<const RingMember> members,
                                                    const ClaimParameters& parameters) {
  if (std::string error = check_parameters(previous, parameters); !error.empty()) {
    return std::unexpected(std::move(error));
  }
  std::vector<RingMember> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const RingMember& a, const RingMember& b) { return a.name < b.name; });
  if (std::string error = check_members(sorted); !error.empty()) {
    return std::unexpected(std::move(error));
  }

  OwnerTable table = claim_token_ring(sorted, parameters.partitions, parameters.replication);
  std::vector<uint64_t> changed_at(parameters.partitions, parameters.epoch);
  for (uint32_t p = 0; previous && p < parameters.partitions; ++p) {
    const std::span<const MemberIndex> row{table.owners.data() + size_t{p} * parameters.replication,
                                           table.owner_counts[p]};
    if (same_owners(*previous, p, row, sorted)) changed_at[p] = previous->changed_at(p);
  }

  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (RingMember& member : sorted) names.push_back(std::move(member.name));
  return RingSnapshot(parameters.partitions, parameters.replication, std::move(names),
                      std::move(table.owners), std::move(table.owner_counts),
                      std::move(changed_at));
}

}  // namespace torc::placement
