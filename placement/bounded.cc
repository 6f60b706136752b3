#include "placement/bounded.h"

#include <algorithm>

#include "placement/reassignment.h"
#include "placement/rendezvous.h"
#include "placement/token_ring.h"

namespace torc::placement {
namespace {

OwnerTable complete(OwnerTable table, const PolicyInput& input, std::span<const uint32_t> bounds) {
  PreviousOwners walked{input.replication, std::move(table.owners)};
  for (uint32_t p = 0; p < input.partitions; ++p) {
    for (uint32_t i = table.owner_counts[p]; i < input.replication; ++i) {
      walked.owners[size_t{p} * input.replication + i] = kNobody;
    }
  }
  std::vector<Limits> limits;
  for (const uint32_t bound : bounds) limits.push_back({0, bound});
  return reassign(walked, input, limits);
}

}  // namespace

std::vector<uint32_t> load_bounds(std::span<const RingMember> members, const RackRule& racks,
                                  uint32_t partitions, uint32_t load_percent) {
  std::vector<uint32_t> bounds;
  for (const Share& share : fair_shares(members, racks, partitions)) {
    bounds.push_back(std::min(share.bound(load_percent), partitions));
  }
  return bounds;
}

OwnerTable claim_bounded_token_ring(const PolicyInput& input) {
  const auto bounds = load_bounds(input.members, input.racks, input.partitions, input.load_percent);
  return complete(claim_token_ring(input, bounds), input, bounds);
}

OwnerTable claim_bounded_rendezvous(const PolicyInput& input) {
  const auto bounds = load_bounds(input.members, input.racks, input.partitions, input.load_percent);
  return complete(claim_rendezvous(input, bounds), input, bounds);
}

}  // namespace torc::placement
