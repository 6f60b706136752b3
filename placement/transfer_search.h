// The search for a cheapest chain of moves that takes one unit from where there is too much to
// where there is too little: a gives a partition to b, b gives another one to c, and so on. It
// changes nothing; the caller makes the moves and reports them. Used by the reassignment alone.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "placement/reassignment.h"
#include "placement/replica_grid.h"

namespace torc::placement {

struct TransferStep {
  uint32_t partition;
  uint32_t place;
  MemberIndex giver;  // kNobody: the place is empty
  MemberIndex taker;
  int32_t cost;  // 1: the taker is new to the partition, less 1 if the giver was
};

struct TransferPath {
  std::vector<TransferStep> steps;
  int from_pool = 0;  // 1: it begins at a member that gives for the pool
  int to_pool = 0;    // 1: it ends at a member that takes for the pool
  bool through_pool = false;
};

class TransferSearch {
 public:
  TransferSearch(const ReplicaGrid& grid, const PolicyInput& input, std::span<const Limits> limits)
      : grid_(grid), input_(input), limits_(limits) {}

  // `pool_takes`: how many units the pool still has to take, or, if negative, to give. Nothing when
  // no unit has to move, or none can for at most `cost_max`.
  std::optional<TransferPath> cheapest_path(int64_t pool_takes, int32_t cost_max);

  // The path along the same members through other partitions, as cheap as the one just taken;
  // nothing when there is none, or its end has no more to give or take.
  std::optional<TransferPath> again(const TransferPath& path, int64_t pool_takes) const;

  // To be told of every move since the first search, before it is made.
  void moved(const TransferStep& step);

 private:
  // Cost first, then steps: with the fewest steps no two of them disturb each other.
  struct Distance {
    int32_t cost = INT32_MAX;
    int32_t steps = 0;
    auto operator<=>(const Distance&) const = default;
  };
  struct Node {
    Distance distance;
    uint32_t from = 0;
    TransferStep step{};
    bool queued = false;
  };

  uint32_t empty() const { return static_cast<uint32_t>(limits_.size()); }  // the empty places
  uint32_t pool() const { return empty() + 1; }

  void list_cells();
  void start(uint32_t node);
  void relax(uint32_t from, uint32_t to, const TransferStep& step);
  void relax_cells(uint32_t from);
  void expand(uint32_t from);
  bool is_end(uint32_t node, int64_t pool_takes) const;
  int32_t cost(uint32_t partition, MemberIndex giver, MemberIndex taker) const;
  TransferPath trace(uint32_t end) const;

  const ReplicaGrid& grid_;
  const PolicyInput& input_;
  std::span<const Limits> limits_;
  // By member, then the empty places: the partitions it has a cell of. Listed by the first search.
  std::vector<std::vector<uint32_t>> cells_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> queue_;
  std::vector<MemberIndex> open_;  // members not yet reached, in relax_cells
};

}  // namespace torc::placement
