#include "placement/modulo.h"

#include <algorithm>

namespace torc::placement {

OwnerTable claim_modulo(const PolicyInput& input) {
  OwnerTable table(input.partitions, input.replication);
  const size_t count = input.members.size();
  std::vector<uint64_t> ends(count);  // one past the member's last place
  uint64_t places = 0;
  for (size_t m = 0; m < count; ++m) ends[m] = places += input.members[m].weight;

  std::vector<uint32_t> taken(input.racks.count, 0);
  for (uint32_t p = 0; p < input.partitions; ++p) {
    const auto first = std::upper_bound(ends.begin(), ends.end(), p % places) - ends.begin();
    for (size_t step = 0; step < count && table.owner_counts[p] < input.racks.row_owners; ++step) {
      const size_t m = (static_cast<size_t>(first) + step) % count;
      if (input.members[m].weight == 0) continue;
      if (taken[input.racks.of[m]] == input.racks.per_rack_max) continue;
      ++taken[input.racks.of[m]];
      table.append(p, static_cast<MemberIndex>(m));
    }
    for (const MemberIndex owner : table.row(p)) taken[input.racks.of[owner]] = 0;
  }
  return table;
}

}  // namespace torc::placement
