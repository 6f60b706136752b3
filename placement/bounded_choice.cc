#include "placement/bounded_choice.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace torc::placement {

__extension__ using Wide = unsigned __int128;

uint64_t load_bound(uint64_t total, uint64_t weight, uint64_t weights, uint32_t percent) {
  assert(weights > 0);
  const Wide share = Wide{total + 1} * weight * percent;
  const Wide unit = Wide{weights} * 100;
  return std::max<uint64_t>(1, static_cast<uint64_t>((share + unit - 1) / unit));
}

std::optional<MemberIndex> first_under_bound(std::span<const MemberIndex> preference_list,
                                             const CurrentLoads& loads) {
  const auto& in_progress = loads.in_progress;
  assert(loads.weights.empty() || loads.weights.size() == in_progress.size());
  const uint64_t total = std::accumulate(in_progress.begin(), in_progress.end(), uint64_t{0});
  const uint64_t weights =
      loads.weights.empty()
          ? in_progress.size()
          : std::accumulate(loads.weights.begin(), loads.weights.end(), uint64_t{0});
  for (const MemberIndex member : preference_list) {
    assert(member < in_progress.size());
    const uint64_t weight = loads.weights.empty() ? 1 : loads.weights[member];
    if (weight == 0) continue;
    if (in_progress[member] < load_bound(total, weight, weights, loads.percent)) return member;
  }
  return std::nullopt;
}

}  // namespace torc::placement
