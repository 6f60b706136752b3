#include "placement/reassignment.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "placement/claim.h"
#include "placement/hash.h"
#include "placement/replica_grid.h"
#include "placement/transfer_search.h"

namespace torc::placement {
namespace {

// As a flow: what is owned beyond the most, and every empty place, has to go to members that own
// less than the least. Where the two do not balance, members between the limits give or take; they
// are the pool. A unit moved to a member that is new to the partition costs 1, one moved back costs
// 0, and sending every unit by a cheapest path makes the sum the cheapest (successive shortest
// paths; Ahuja, Magnanti and Orlin, "Network Flows", 1993, section 9.7).
class Reassignment {
 public:
  Reassignment(const PreviousOwners& previous, const PolicyInput& input,
               std::span<const Limits> limits)
      : input_(input), limits_(limits), grid_(previous, input) {
    int64_t supply = static_cast<int64_t>(grid_.empty_places());
    int64_t demand = 0;
    for (MemberIndex m = 0; m < limits_.size(); ++m) {
      if (owned(m) > limits_[m].most) supply += owned(m) - limits_[m].most;
      if (owned(m) < limits_[m].least) demand += limits_[m].least - owned(m);
    }
    pool_takes_ = supply - demand;
    everybody_.resize(limits_.size());
    std::iota(everybody_.begin(), everybody_.end(), MemberIndex{0});
    takers_ = everybody_;
  }

  OwnerTable run() {
    // Almost all units move by one step. That step is a cheapest path only when no path is free,
    // and only what had to be dropped can make one free.
    if (grid_.has_dropped()) {
      take_back();
      move_by_search(0);
    }
    hand_over();
    move_by_search(INT32_MAX);
    return grid_.table();
  }

 private:
  uint32_t owned(MemberIndex m) const { return grid_.owned()[m]; }

  // How urgently the owner of a cell has to give it up; 0: it does not.
  uint32_t surplus(MemberIndex owner) const {
    if (owner == kNobody) return UINT32_MAX;
    const Limits& limit = limits_[owner];
    if (owned(owner) > limit.most) return owned(owner) - limit.most + 1;
    return pool_takes_ < 0 && owned(owner) > limit.least ? 1 : 0;
  }
  bool lacks(MemberIndex m) const { return owned(m) < limits_[m].least; }
  bool may_lend(MemberIndex m) const { return pool_takes_ > 0 && owned(m) < limits_[m].most; }

  void put(uint32_t partition, uint32_t place, MemberIndex taker) {
    const MemberIndex giver = grid_.at(partition, place);
    // A giver between its limits gives for the pool, a taker between them takes for it.
    if (giver != kNobody && owned(giver) <= limits_[giver].most) ++pool_takes_;
    if (!lacks(taker)) --pool_takes_;
    grid_.put(partition, place, taker);
  }

  // Visits all partitions in an order that depends on who is to take, so that a newcomer's
  // partitions, and with them its partners, are spread over the table.
  template <typename Visit>
  void for_each_partition(Visit visit) {
    uint64_t start = 0;
    for (MemberIndex m = 0; m < limits_.size(); ++m) {
      if (lacks(m)) start ^= hash_bytes(input_.members[m].name);
    }
    const uint64_t partitions = grid_.partitions();
    const uint64_t stride = (partitions * 5 / 8) | 1;  // odd: it meets every partition once
    for (uint64_t i = 0; i < partitions; ++i) {
      visit(static_cast<uint32_t>((start + i * stride) % partitions));
    }
  }

  // The place of the row whose owner has most to give; `width` when nobody has anything.
  uint32_t neediest_place(uint32_t partition, std::span<const bool> tried) const {
    uint32_t best = grid_.width();
    uint32_t most = 0;
    for (uint32_t i = 0; i < grid_.width(); ++i) {
      const uint32_t gives = surplus(grid_.at(partition, i));
      if (gives > most && !tried[i]) {
        most = gives;
        best = i;
      }
    }
    return best;
  }

  // Gives dropped owners their partition back where that mends something.
  void take_back() {
    for_each_partition([&](uint32_t p) {
      for (const MemberIndex old : grid_.before(p)) {
        if (old == kNobody || !(lacks(old) || may_lend(old))) continue;
        for (uint32_t i = 0; i < grid_.width(); ++i) {
          if (!surplus(grid_.at(p, i)) || !grid_.may_take(p, i, old)) continue;
          if (!lacks(old) && !has_to_give(grid_.at(p, i))) continue;
          put(p, i, old);
          break;
        }
      }
    });
  }

  bool has_to_give(MemberIndex owner) const {
    return owner == kNobody || owned(owner) > limits_[owner].most;
  }

  void hand_over() {
    bool tried[kReplicationMax];
    for_each_partition([&](uint32_t p) {
      std::fill_n(tried, grid_.width(), false);
      for (;;) {
        const uint32_t place = neediest_place(p, {tried, grid_.width()});
        if (place == grid_.width()) return;
        tried[place] = true;
        const MemberIndex taker = choose_taker(p, place);
        if (taker != kNobody) put(p, place, taker);
      }
    });
  }

  // One by hash among those that lack about half of what the neediest lacks, or more: so nobody is
  // left with too much at the end, when few partitions remain, and partners are mixed. Then members
  // that take for the pool.
  MemberIndex choose_taker(uint32_t partition, uint32_t place) {
    const uint64_t hash = mix(uint64_t{partition} * input_.replication + place);
    MemberIndex taker = first_lacking(hash, partition, place, lacking_min_);
    if (taker == kNobody) {
      lower_lacking_min();
      taker = first_lacking(hash, partition, place, lacking_min_);
    }
    if (taker == kNobody) taker = first_lacking(hash, partition, place, 1);
    if (taker != kNobody) return taker;
    if (pool_takes_ <= 0 || !has_to_give(grid_.at(partition, place))) return kNobody;
    return first_from(hash, everybody_, [&](MemberIndex m) {
      return owned(m) < limits_[m].most && grid_.may_take(partition, place, m);
    });
  }

  MemberIndex first_lacking(uint64_t hash, uint32_t partition, uint32_t place,
                            uint64_t least) const {
    return first_from(hash, takers_, [&](MemberIndex m) {
      return owned(m) + least <= limits_[m].least && grid_.may_take(partition, place, m);
    });
  }

  template <typename Fits>
  static MemberIndex first_from(uint64_t hash, const std::vector<MemberIndex>& members, Fits fits) {
    for (size_t i = 0; i < members.size(); ++i) {
      const MemberIndex m = members[(hash + i) % members.size()];
      if (fits(m)) return m;
    }
    return kNobody;
  }

  void lower_lacking_min() {
    std::erase_if(takers_, [&](MemberIndex m) { return !lacks(m); });
    uint32_t lacking = 0;
    for (const MemberIndex m : takers_) lacking = std::max(lacking, limits_[m].least - owned(m));
    lacking_min_ = std::max(1u, lacking / 2);
  }

  // The finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // Sends unit after unit by a cheapest path, until nothing is left to send for at most `cost_max`.
  void move_by_search(int32_t cost_max) {
    TransferSearch search(grid_, input_, limits_);
    while (auto path = search.cheapest_path(pool_takes_, cost_max)) {
      while (path) {
        pool_takes_ += path->from_pool - path->to_pool;
        // From the far end: what a member gives is still its own when the one before gives to it.
        for (size_t i = path->steps.size(); i-- > 0;) {
          const TransferStep& step = path->steps[i];
          search.moved(step);
          grid_.put(step.partition, step.place, step.taker);
        }
        path = search.again(*path, pool_takes_);
      }
    }
  }

  const PolicyInput& input_;
  std::span<const Limits> limits_;
  ReplicaGrid grid_;
  std::vector<MemberIndex> everybody_;
  std::vector<MemberIndex> takers_;    // all that lack something, and some that do no more
  uint32_t lacking_min_ = UINT32_MAX;  // about half of what the neediest lacks
  int64_t pool_takes_ = 0;             // negative: the pool has to give
};

}  // namespace

OwnerTable reassign(const PreviousOwners& previous, const PolicyInput& input,
                    std::span<const Limits> limits) {
  assert(limits.size() == input.members.size());
  return Reassignment(previous, input, limits).run();
}

}  // namespace torc::placement
