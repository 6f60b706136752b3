#include "placement/balanced.h"

#include <algorithm>
#include <vector>

#include "placement/heads.h"
#include "placement/reassignment.h"
#include "placement/rendezvous.h"
#include "placement/share.h"

namespace torc::placement {
namespace {

PreviousOwners first_choice(const PolicyInput& input) {
  const OwnerTable table = claim_rendezvous(input);
  PreviousOwners owners{input.replication, std::vector<MemberIndex>(table.owners.size(), kNobody)};
  for (uint32_t p = 0; p < input.partitions; ++p) {
    std::copy(table.row(p).begin(), table.row(p).end(),
              owners.owners.begin() + static_cast<std::ptrdiff_t>(p) * input.replication);
  }
  return owners;
}

}  // namespace

OwnerTable claim_balanced(const PolicyInput& input) {
  // Rounding a share down or up is left to the reassignment: whoever has more keeps more.
  std::vector<Limits> limits;
  for (const Share& share : fair_shares(input.members, input.racks, input.partitions)) {
    limits.push_back({share.floor(), share.ceil()});
  }
  OwnerTable table = input.previous ? reassign(*input.previous, input, limits)
                                    : reassign(first_choice(input), input, limits);
  even_heads(table, input.members.size());
  return table;
}

}  // namespace torc::placement
