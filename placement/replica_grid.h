// The table while owners are being moved: rows with empty places, how much each member owns, and
// which owners were there before. Distinct owners and the rack rule hold at every step. Used by the
// reassignment alone.
#pragma once

#include <vector>

#include "placement/policy.h"

namespace torc::placement {

class ReplicaGrid {
 public:
  // Keeps of every row what the rack rule and the row's length allow, the first ones first.
  ReplicaGrid(const PreviousOwners& previous, const PolicyInput& input);

  uint32_t partitions() const { return input_.partitions; }
  uint32_t width() const { return input_.racks.row_owners; }
  MemberIndex at(uint32_t partition, uint32_t place) const {
    return cells_[size_t{partition} * width() + place];
  }
  std::span<const MemberIndex> row(uint32_t partition) const {
    return {cells_.data() + size_t{partition} * width(), width()};
  }
  std::span<const MemberIndex> before(uint32_t partition) const { return previous_.row(partition); }
  const std::vector<uint32_t>& owned() const { return owned_; }
  uint64_t empty_places() const { return empty_places_; }
  // Owners of before that are still members and yet had to go.
  bool has_dropped() const { return has_dropped_; }

  // Whether `member` owned the partition before: then it costs nothing to own it.
  bool was_owner(uint32_t partition, MemberIndex member) const;
  // Whether the row may differ from the one before, not counting owners that are gone.
  bool is_touched(uint32_t partition) const { return touched_[partition]; }
  // Whether `member` may take the place from whoever is there.
  bool may_take(uint32_t partition, uint32_t place, MemberIndex member) const;
  // REQUIRES: may_take.
  void put(uint32_t partition, uint32_t place, MemberIndex member);

  // REQUIRES: no empty places.
  OwnerTable table() const;

 private:
  void keep_row(uint32_t partition);

  const PreviousOwners& previous_;
  const PolicyInput& input_;
  std::vector<MemberIndex> cells_;  // partitions x width
  std::vector<uint32_t> owned_;     // by member
  std::vector<uint8_t> touched_;    // by partition
  uint64_t empty_places_ = 0;
  bool has_dropped_ = false;
};

}  // namespace torc::placement
