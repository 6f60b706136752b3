// A member's fair share: the partitions it should own, as an exact fraction. Shares follow the
// weights, but nobody can own a partition twice nor a rack more of it than the rack rule allows;
// what is cut off there goes to the others by their weights (water filling). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "placement/rack_rule.h"

namespace torc::placement {

struct Share {
  uint64_t numerator = 0;  // at most 2^40
  uint64_t denominator = 1;

  uint32_t floor() const { return static_cast<uint32_t>(numerator / denominator); }
  uint32_t ceil() const {
    return static_cast<uint32_t>((numerator + denominator - 1) / denominator);
  }
  // ceil(percent / 100 x share).
  uint32_t bound(uint32_t percent) const {
    return static_cast<uint32_t>((numerator * percent + denominator * 100 - 1) /
                                 (denominator * 100));
  }
};

// By member; they add up to partitions x rule.row_owners.
std::vector<Share> fair_shares(std::span<const RingMember> members, const RackRule& rule,
                               uint32_t partitions);

}  // namespace torc::placement
