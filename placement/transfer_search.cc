#include "placement/transfer_search.h"

#include <algorithm>
#include <cassert>

namespace torc::placement {

void TransferSearch::list_cells() {
  cells_.resize(limits_.size() + 1);
  for (uint32_t p = 0; p < grid_.partitions(); ++p) {
    for (const MemberIndex owner : grid_.row(p)) {
      cells_[owner == kNobody ? empty() : owner].push_back(p);
    }
  }
}

void TransferSearch::moved(const TransferStep& step) {
  std::vector<uint32_t>& from = cells_[step.giver == kNobody ? empty() : step.giver];
  from.erase(std::find(from.begin(), from.end(), step.partition));
  cells_[step.taker].push_back(step.partition);
}

int32_t TransferSearch::cost(uint32_t partition, MemberIndex giver, MemberIndex taker) const {
  const bool earns = giver != kNobody && !grid_.was_owner(partition, giver);
  return int32_t{!grid_.was_owner(partition, taker)} - int32_t{earns};
}

std::optional<TransferPath> TransferSearch::cheapest_path(int64_t pool_takes, int32_t cost_max) {
  const auto& owned = grid_.owned();
  bool needed = grid_.empty_places() > 0 || pool_takes != 0;
  for (size_t m = 0; m < limits_.size() && !needed; ++m) {
    needed = owned[m] > limits_[m].most || owned[m] < limits_[m].least;
  }
  if (!needed) return std::nullopt;
  if (cells_.empty()) list_cells();

  // Bellman and Ford's method with a queue: giving a partition back earns what taking it had cost,
  // so costs can be negative, but no circle earns anything.
  nodes_.assign(limits_.size() + 2, Node{});
  queue_.clear();
  if (grid_.empty_places() > 0) start(empty());
  for (uint32_t m = 0; m < limits_.size(); ++m) {
    if (owned[m] > limits_[m].most) start(m);
  }
  if (pool_takes < 0) start(pool());
  for (size_t next = 0; next < queue_.size(); ++next) {
    const uint32_t node = queue_[next];
    nodes_[node].queued = false;
    expand(node);
  }

  uint32_t end = pool() + 1;
  for (uint32_t node = 0; node <= pool(); ++node) {
    if (!is_end(node, pool_takes) || nodes_[node].distance.cost > cost_max) continue;
    if (end > pool() || nodes_[node].distance < nodes_[end].distance) end = node;
  }
  if (end > pool() || nodes_[end].distance.cost == INT32_MAX) return std::nullopt;
  return trace(end);
}

// Paths never get cheaper, so one as cheap as the last is a cheapest one; and steps in different
// partitions do not disturb each other.
std::optional<TransferPath> TransferSearch::again(const TransferPath& path,
                                                  int64_t pool_takes) const {
  if (path.through_pool) return std::nullopt;
  const auto& owned = grid_.owned();
  const MemberIndex first = path.steps.front().giver;
  const MemberIndex last = path.steps.back().taker;
  const bool gives = path.from_pool     ? pool_takes < 0 && owned[first] > limits_[first].least
                     : first == kNobody ? grid_.empty_places() > 0
                                        : owned[first] > limits_[first].most;
  const bool takes = path.to_pool ? pool_takes > 0 && owned[last] < limits_[last].most
                                  : owned[last] < limits_[last].least;
  if (!gives || !takes) return std::nullopt;

  TransferPath other{{}, path.from_pool, path.to_pool, false};
  for (size_t i = 0; i < path.steps.size(); ++i) {
    const MemberIndex giver = path.steps[i].giver;
    const MemberIndex taker = path.steps[i].taker;
    for (const uint32_t p : cells_[giver == kNobody ? empty() : giver]) {
      const auto row = grid_.row(p);
      const auto place =
          static_cast<uint32_t>(std::find(row.begin(), row.end(), giver) - row.begin());
      const auto uses_p = [p](const TransferStep& step) { return step.partition == p; };
      if (cost(p, giver, taker) != path.steps[i].cost || !grid_.may_take(p, place, taker) ||
          std::any_of(other.steps.begin(), other.steps.end(), uses_p)) {
        continue;
      }
      other.steps.push_back({p, place, giver, taker, path.steps[i].cost});
      break;
    }
    if (other.steps.size() == i) return std::nullopt;
  }
  return other;
}

bool TransferSearch::is_end(uint32_t node, int64_t pool_takes) const {
  if (node == pool()) return pool_takes > 0;
  return node < empty() && grid_.owned()[node] < limits_[node].least;
}

void TransferSearch::start(uint32_t node) {
  nodes_[node] = {{0, 0}, node, {}, true};
  queue_.push_back(node);
}

void TransferSearch::relax(uint32_t from, uint32_t to, const TransferStep& step) {
  const Distance distance{nodes_[from].distance.cost + step.cost, nodes_[from].distance.steps + 1};
  Node& node = nodes_[to];
  if (!(distance < node.distance)) return;
  node.distance = distance;
  node.from = from;
  node.step = step;
  if (node.queued) return;
  node.queued = true;
  queue_.push_back(to);
}

void TransferSearch::expand(uint32_t from) {
  const TransferStep none{};
  if (from == pool()) {
    for (uint32_t m = 0; m < limits_.size(); ++m) {
      if (grid_.owned()[m] > limits_[m].least && limits_[m].most > limits_[m].least) {
        relax(from, m, none);
      }
    }
    return;
  }
  if (from != empty() && grid_.owned()[from] >= limits_[from].least &&
      grid_.owned()[from] < limits_[from].most) {
    relax(from, pool(), none);
  }
  relax_cells(from);
}

// All members that could take a partition from `from`. What a step costs depends only on whether
// the giver and the taker owned the partition before, so a member reached for a cost need not be
// looked at again for the same cost, and a few partitions reach almost everybody.
void TransferSearch::relax_cells(uint32_t from) {
  const MemberIndex giver = from == empty() ? kNobody : static_cast<MemberIndex>(from);
  open_.clear();
  for (MemberIndex m = 0; m < limits_.size(); ++m) {
    if (m != from && limits_[m].most > 0) open_.push_back(m);
  }
  for (const int32_t earned : {1, 0}) {
    for (const uint32_t p : cells_[from]) {
      // In a row as it was before nothing is earned, and all owners of before are there.
      const bool touched = grid_.is_touched(p);
      if (touched ? earned != int32_t{giver != kNobody && !grid_.was_owner(p, giver)}
                  : earned == 1 || open_.empty()) {
        continue;
      }
      const auto row = grid_.row(p);
      const auto place =
          static_cast<uint32_t>(std::find(row.begin(), row.end(), giver) - row.begin());
      for (const MemberIndex old : grid_.before(p)) {
        if (!touched) break;
        if (old == kNobody || limits_[old].most == 0 || !grid_.may_take(p, place, old)) continue;
        relax(from, old, {p, place, giver, old, -earned});
      }
      std::erase_if(open_, [&](MemberIndex taker) {
        if (!grid_.may_take(p, place, taker) || grid_.was_owner(p, taker)) return false;
        relax(from, taker, {p, place, giver, taker, 1 - earned});
        return true;
      });
    }
  }
}

TransferPath TransferSearch::trace(uint32_t end) const {
  TransferPath path;
  path.to_pool = end == pool();
  uint32_t node = end;
  for (; nodes_[node].from != node; node = nodes_[node].from) {
    if (node != pool() && nodes_[node].from != pool()) path.steps.push_back(nodes_[node].step);
    path.through_pool |= node == pool() && node != end;
    assert(path.steps.size() <= nodes_.size());
  }
  path.from_pool = node == pool();
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace torc::placement
