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

void TransferSearch::moved(const TransferStep& step, MemberIndex giver) {
  std::vector<uint32_t>& from = cells_[giver == kNobody ? empty() : giver];
  from.erase(std::find(from.begin(), from.end(), step.partition));
  cells_[step.taker].push_back(step.partition);
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

bool TransferSearch::is_end(uint32_t node, int64_t pool_takes) const {
  if (node == pool()) return pool_takes > 0;
  return node < empty() && grid_.owned()[node] < limits_[node].least;
}

void TransferSearch::start(uint32_t node) {
  nodes_[node] = {{0, 0}, node, {}, true};
  queue_.push_back(node);
}

void TransferSearch::relax(uint32_t from, uint32_t to, int32_t cost, const TransferStep& step) {
  const Distance distance{nodes_[from].distance.cost + cost, nodes_[from].distance.steps + 1};
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
        relax(from, m, 0, none);
      }
    }
    return;
  }
  if (from != empty() && grid_.owned()[from] >= limits_[from].least &&
      grid_.owned()[from] < limits_[from].most) {
    relax(from, pool(), 0, none);
  }
  relax_cells(from);
}

// All members that could take a partition from `from`. What a step costs depends only on whether
// the giver and the taker owned the partition before, so a member reached for a cost need not be
// looked at again for the same cost, and a few partitions reach almost everybody.
void TransferSearch::relax_cells(uint32_t from) {
  std::vector<MemberIndex> open;
  for (MemberIndex m = 0; m < limits_.size(); ++m) {
    if (m != from && limits_[m].most > 0) open.push_back(m);
  }
  for (const bool giver_was_owner : {false, true}) {
    for (const uint32_t p : cells_[from]) {
      const MemberIndex giver = from == empty() ? kNobody : static_cast<MemberIndex>(from);
      const int32_t earned = giver == kNobody || grid_.was_owner(p, giver) ? 0 : 1;
      if ((earned == 0) != giver_was_owner) continue;
      const auto row = grid_.row(p);
      const auto place =
          static_cast<uint32_t>(std::find(row.begin(), row.end(), giver) - row.begin());
      for (const MemberIndex old : grid_.before(p)) {
        if (old == kNobody || limits_[old].most == 0 || !grid_.may_take(p, place, old)) continue;
        relax(from, old, -earned, {p, place, old});
      }
      std::erase_if(open, [&](MemberIndex taker) {
        if (!grid_.may_take(p, place, taker) || grid_.was_owner(p, taker)) return false;
        relax(from, taker, 1 - earned, {p, place, taker});
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
    assert(path.steps.size() <= nodes_.size());
  }
  path.from_pool = node == pool();
  std::reverse(path.steps.begin(), path.steps.end());
  return path;
}

}  // namespace torc::placement
