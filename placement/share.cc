#include "placement/share.h"

#include <cassert>

namespace torc::placement {
namespace {

// Raises the water until it holds `total`. The level can only rise while members and racks are
// found to be full, so one found full stays full.
class Water {
 public:
  Water(std::span<const RingMember> members, const RackRule& rule, uint32_t partitions)
      : members_(members),
        rule_(rule),
        partitions_(partitions),
        full_(members.size(), false),
        rack_full_(rule.count, false),
        shares_(members.size()) {}

  std::vector<Share> fill() {
    uint64_t total = uint64_t{partitions_} * rule_.row_owners;
    while (raise(total, kAllRacks)) {
    }
    const uint64_t rack_total = uint64_t{partitions_} * rule_.per_rack_max;
    for (uint32_t rack = 0; rack < rule_.count; ++rack) {
      if (!rack_full_[rack]) continue;
      for (size_t m = 0; m < members_.size(); ++m) {
        if (rule_.of[m] == rack) full_[m] = false;
      }
      while (raise(rack_total, rack)) {
      }
    }
    return std::move(shares_);
  }

 private:
  static constexpr uint32_t kAllRacks = UINT32_MAX;

  bool is_in(size_t member, uint32_t rack) const {
    if (members_[member].weight == 0) return false;
    return rack == kAllRacks ? !rack_full_[rule_.of[member]] : rule_.of[member] == rack;
  }

  // One round over the members of `rack`, or of all racks not yet full: true when something more
  // was found to be full.
  bool raise(uint64_t total, uint32_t rack) {
    if (rack == kAllRacks) {
      for (const bool full : rack_full_) {
        if (full) total -= uint64_t{partitions_} * rule_.per_rack_max;
      }
    }
    uint64_t weights = 0;
    for (size_t m = 0; m < members_.size(); ++m) {
      if (!is_in(m, rack)) continue;
      if (full_[m]) {
        total -= partitions_;
      } else {
        weights += members_[m].weight;
      }
    }
    bool found = false;
    for (size_t m = 0; m < members_.size(); ++m) {
      if (!is_in(m, rack)) continue;
      if (!full_[m]) {
        shares_[m] = {total * members_[m].weight, weights};
        if (shares_[m].numerator >= partitions_ * weights) full_[m] = found = true;
      }
      if (full_[m]) shares_[m] = {partitions_, 1};
    }
    if (rack == kAllRacks && weights > 0) found |= find_full_racks(total, weights);
    return found;
  }

  bool find_full_racks(uint64_t total, uint64_t weights) {
    std::vector<uint64_t> owned(rule_.count, 0);  // in units of 1 / weights
    for (size_t m = 0; m < members_.size(); ++m) {
      if (!is_in(m, kAllRacks)) continue;
      owned[rule_.of[m]] += full_[m] ? partitions_ * weights : total * members_[m].weight;
    }
    bool found = false;
    for (uint32_t rack = 0; rack < rule_.count; ++rack) {
      if (rack_full_[rack] || owned[rack] < uint64_t{partitions_} * rule_.per_rack_max * weights) {
        continue;
      }
      rack_full_[rack] = found = true;
    }
    return found;
  }

  const std::span<const RingMember> members_;
  const RackRule& rule_;
  const uint64_t partitions_;
  std::vector<bool> full_;  // owns every partition
  std::vector<bool> rack_full_;
  std::vector<Share> shares_;
};

}  // namespace

std::vector<Share> fair_shares(std::span<const RingMember> members, const RackRule& rule,
                               uint32_t partitions) {
  assert(rule.of.size() == members.size());
  return Water(members, rule, partitions).fill();
}

}  // namespace torc::placement
