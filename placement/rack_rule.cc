#include "placement/rack_rule.h"

#include <algorithm>
#include <string_view>

namespace torc::placement {

RackRule::RackRule(std::span<const RingMember> members, uint32_t replication)
    : of(members.size(), 0) {
  std::vector<std::string_view> names;
  for (const RingMember& member : members) {
    if (member.weight > 0) names.push_back(member.rack);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  count = static_cast<uint32_t>(names.size());
  if (count == 0) return;

  per_rack_max = (replication + count - 1) / count;
  std::vector<uint32_t> sizes(count, 0);
  for (size_t m = 0; m < members.size(); ++m) {
    if (members[m].weight == 0) continue;
    const auto rack = std::lower_bound(names.begin(), names.end(), members[m].rack);
    of[m] = static_cast<uint32_t>(rack - names.begin());
    ++sizes[of[m]];
  }
  for (const uint32_t size : sizes) row_owners += std::min(size, per_rack_max);
  row_owners = std::min(row_owners, replication);
}

}  // namespace torc::placement
