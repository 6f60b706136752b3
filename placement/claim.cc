#include "placement/claim.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "placement/policy.h"
#include "placement/rack_rule.h"
#include "placement/token_ring.h"

namespace torc::placement {
namespace {

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
  if (parameters.load_percent < 100 || parameters.load_percent > kLoadPercentMax) {
    return "the load limit must be 100 to " + std::to_string(kLoadPercentMax) +
           " percent of a share, not " + std::to_string(parameters.load_percent);
  }
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

// Names go into messages as they are; what a terminal might act on does not.
std::string escaped(std::string_view name) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : name) {
    if (is_printable({&c, 1})) {
      text += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return text;
}

PreviousOwners translate(const RingSnapshot& previous, std::span<const RingMember> members) {
  std::vector<MemberIndex> today(previous.members().size(), kNobody);
  for (size_t was = 0, is = 0; was < today.size() && is < members.size();) {
    const int order = previous.members()[was].compare(members[is].name);
    if (order == 0) today[was] = static_cast<MemberIndex>(is);
    was += order <= 0;
    is += order >= 0;
  }
  PreviousOwners owners{previous.replication(), {}};
  owners.owners.assign(size_t{previous.partitions()} * previous.replication(), kNobody);
  for (uint32_t p = 0; p < previous.partitions(); ++p) {
    MemberIndex* row = owners.owners.data() + size_t{p} * owners.replication;
    for (const MemberIndex owner : previous.owners(p)) *row++ = today[owner];
  }
  return owners;
}

// An owner that left is nobody today, and so is none of the row's.
bool is_unchanged(const RingSnapshot& previous, const PreviousOwners& owners,
                  const OwnerTable& table, uint32_t partition) {
  const auto was = owners.row(partition).first(previous.owners(partition).size());
  const auto is = table.row(partition);
  return std::equal(was.begin(), was.end(), is.begin(), is.end());
}

}  // namespace

std::string check_members(std::span<const RingMember> members, std::string_view policy) {
  if (members.empty()) return "no members";
  if (members.size() > kMembersMax) {
    return std::to_string(members.size()) + " members; the most is " + std::to_string(kMembersMax);
  }
  uint64_t weights = 0;
  for (size_t m = 0; m < members.size(); ++m) {
    const RingMember& member = members[m];
    if (member.name.empty()) return "a member without a name";
    if (member.name.size() > kNameBytesMax) {
      return "the name " + escaped(member.name.substr(0, 20)) + "... is longer than " +
             std::to_string(kNameBytesMax) + " bytes";
    }
    if (!is_printable(member.name)) {
      return "the name '" + escaped(member.name) + "' has bytes other than printable ASCII";
    }
    if (m > 0 && member.name == members[m - 1].name) {
      return "two members are named '" + member.name + "'";
    }
    if (member.weight > kWeightMax) {
      return "the weight of '" + member.name + "' is " + std::to_string(member.weight) +
             "; the most is " + std::to_string(kWeightMax);
    }
    weights += member.weight;
  }
  if (weights == 0) return "every member has weight 0";
  if (has_tokens(policy) && weights > kTokensMax / kTokensPerWeight) {
    return "the weights add up to " + std::to_string(weights) + "; the most is " +
           std::to_string(kTokensMax / kTokensPerWeight);
  }
  return {};
}

bool is_policy(std::string_view name) {
  return find_policy(name) != nullptr;
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
  if (std::string error = check_members(sorted, parameters.policy); !error.empty()) {
    return std::unexpected(std::move(error));
  }

  const RackRule racks(sorted, parameters.replication);
  PreviousOwners before;
  if (previous) before = translate(*previous, sorted);
  const PolicyInput input{
      previous ? &before : nullptr, sorted, racks, parameters.partitions, parameters.replication,
      parameters.load_percent};
  OwnerTable table = find_policy(parameters.policy)(input);
  std::vector<uint64_t> changed_at(parameters.partitions, parameters.epoch);
  for (uint32_t p = 0; previous && p < parameters.partitions; ++p) {
    if (is_unchanged(*previous, before, table, p)) changed_at[p] = previous->changed_at(p);
  }

  std::vector<std::string> names;
  names.reserve(sorted.size());
  for (RingMember& member : sorted) names.push_back(std::move(member.name));
  return RingSnapshot(parameters.partitions, parameters.replication, std::move(names),
                      std::move(table.owners), std::move(table.owner_counts),
                      std::move(changed_at));
}

}  // namespace torc::placement
