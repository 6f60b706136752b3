#include "placement/transfer_plan.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace torc::placement {
namespace {

using Row = std::span<const MemberIndex>;

// Indices of one table in the sorted names of both.
std::vector<MemberIndex> translate(const std::vector<std::string>& names,
                                   const std::vector<MemberTransfer>& all) {
  std::vector<MemberIndex> indices;
  for (const std::string& name : names) {
    const auto found = std::lower_bound(
        all.begin(), all.end(), name,
        [](const MemberTransfer& member, const std::string& key) { return member.name < key; });
    indices.push_back(static_cast<MemberIndex>(found - all.begin()));
  }
  return indices;
}

std::vector<MemberIndex> translated(Row row, const std::vector<MemberIndex>& indices) {
  std::vector<MemberIndex> out;
  for (const MemberIndex member : row) out.push_back(indices[member]);
  return out;
}

bool has(const std::vector<MemberIndex>& row, MemberIndex member) {
  return std::find(row.begin(), row.end(), member) != row.end();
}

std::vector<std::string> one_side(const std::vector<Replacement>& replacements,
                                  std::string Replacement::* side) {
  std::vector<std::string> names;
  for (const Replacement& replacement : replacements) {
    if (!(replacement.*side).empty()) names.push_back(replacement.*side);
  }
  return names;
}

}  // namespace

std::vector<std::string> PartitionTransfer::gainers() const {
  return one_side(replacements, &Replacement::to);
}

std::vector<std::string> PartitionTransfer::losers() const {
  return one_side(replacements, &Replacement::from);
}

std::expected<TransferPlan, std::string> transfer_plan(const RingSnapshot& before,
                                                       const RingSnapshot& after) {
  if (before.partitions() != after.partitions()) {
    return std::unexpected("a table of " + std::to_string(before.partitions()) +
                           " partitions cannot become one of " +
                           std::to_string(after.partitions()));
  }
  std::vector<std::string> names;
  std::set_union(before.members().begin(), before.members().end(), after.members().begin(),
                 after.members().end(), std::back_inserter(names));
  TransferPlan plan;
  for (std::string& name : names) plan.members.push_back({std::move(name)});
  const auto old_index = translate(before.members(), plan.members);
  const auto new_index = translate(after.members(), plan.members);

  for (uint32_t p = 0; p < before.partitions(); ++p) {
    const auto was = translated(before.owners(p), old_index);
    const auto is = translated(after.owners(p), new_index);
    std::vector<MemberIndex> leaving;
    for (const MemberIndex m : was) {
      if (!has(is, m)) leaving.push_back(m);
    }
    PartitionTransfer transfer{p, {}};
    const auto name_of = [&](MemberIndex m) { return plan.members[m].name; };
    std::vector<MemberIndex> unpaired;
    for (size_t i = 0; i < is.size(); ++i) {
      if (has(was, is[i])) continue;
      ++plan.members[is[i]].in;
      ++plan.moved;
      const auto stood =
          i < was.size() ? std::find(leaving.begin(), leaving.end(), was[i]) : leaving.end();
      if (stood == leaving.end()) {
        unpaired.push_back(is[i]);
        continue;
      }
      transfer.replacements.push_back({name_of(*stood), name_of(is[i])});
      ++plan.members[*stood].out;
      leaving.erase(stood);
    }
    plan.lost += transfer.replacements.size() + leaving.size();
    for (size_t i = 0; i < std::max(unpaired.size(), leaving.size()); ++i) {
      Replacement replacement;
      if (i < leaving.size()) {
        replacement.from = name_of(leaving[i]);
        ++plan.members[leaving[i]].out;
      }
      if (i < unpaired.size()) replacement.to = name_of(unpaired[i]);
      transfer.replacements.push_back(std::move(replacement));
    }
    if (!transfer.replacements.empty()) plan.partitions.push_back(std::move(transfer));
  }
  return plan;
}

}  // namespace torc::placement
