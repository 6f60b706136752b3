#include "placement/replica_grid.h"

#include <algorithm>
#include <cassert>

#include "placement/claim.h"

namespace torc::placement {

ReplicaGrid::ReplicaGrid(const PreviousOwners& previous, const PolicyInput& input)
    : previous_(previous),
      input_(input),
      cells_(size_t{input.partitions} * input.racks.row_owners, kNobody),
      owned_(input.members.size(), 0),
      touched_(input.partitions, 0) {
  for (uint32_t p = 0; p < input.partitions; ++p) keep_row(p);
}

void ReplicaGrid::keep_row(uint32_t partition) {
  MemberIndex* const row = cells_.data() + size_t{partition} * width();
  const auto old = before(partition);
  uint32_t homeless = 0;
  MemberIndex behind[kReplicationMax];  // kept, from places that the row no longer has
  uint32_t kept = 0;
  for (uint32_t i = 0; i < old.size(); ++i) {
    const MemberIndex owner = old[i];
    if (owner == kNobody || input_.members[owner].weight == 0) continue;
    const auto in_rack = std::count_if(old.begin(), old.begin() + i, [&](MemberIndex other) {
      return other != kNobody && input_.members[other].weight > 0 &&
             input_.racks.of[other] == input_.racks.of[owner];
    });
    if (kept == width() || in_rack >= input_.racks.per_rack_max) {
      has_dropped_ = true;
      touched_[partition] = 1;
      continue;
    }
    ++kept;
    ++owned_[owner];
    if (i < width()) {
      row[i] = owner;
    } else {
      behind[homeless++] = owner;
    }
  }
  for (uint32_t i = 0; homeless > 0; ++i) {
    if (row[i] == kNobody) row[i] = behind[--homeless];
  }
  empty_places_ += width() - kept;
}

bool ReplicaGrid::was_owner(uint32_t partition, MemberIndex member) const {
  const auto old = before(partition);
  return std::find(old.begin(), old.end(), member) != old.end();
}

bool ReplicaGrid::may_take(uint32_t partition, uint32_t place, MemberIndex member) const {
  const auto owners = row(partition);
  const uint32_t rack = input_.racks.of[member];
  uint32_t in_rack = 0;
  for (uint32_t i = 0; i < owners.size(); ++i) {
    if (owners[i] == member) return false;
    if (i != place && owners[i] != kNobody) in_rack += input_.racks.of[owners[i]] == rack;
  }
  return in_rack < input_.racks.per_rack_max;
}

void ReplicaGrid::put(uint32_t partition, uint32_t place, MemberIndex member) {
  assert(may_take(partition, place, member));
  MemberIndex& cell = cells_[size_t{partition} * width() + place];
  if (cell == kNobody) {
    --empty_places_;
  } else {
    --owned_[cell];
  }
  cell = member;
  touched_[partition] = 1;
  ++owned_[member];
}

OwnerTable ReplicaGrid::table() const {
  assert(empty_places_ == 0);
  OwnerTable table(input_.partitions, input_.replication);
  for (uint32_t p = 0; p < partitions(); ++p) {
    for (const MemberIndex owner : row(p)) table.append(p, owner);
  }
  return table;
}

}  // namespace torc::placement
