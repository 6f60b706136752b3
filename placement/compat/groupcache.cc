#include "placement/compat/groupcache.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "placement/ring_hash.h"

namespace torc::placement::compat {

Groupcache::Groupcache(uint32_t replicas, Hash hash)
    : replicas_(replicas), hash_(hash ? std::move(hash) : Hash(crc32_ieee)) {}

void Groupcache::add(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto index = static_cast<uint32_t>(names_.size());
    names_.push_back(name);
    for (uint32_t i = 0; i < replicas_; ++i) {
      points_.push_back({hash_(std::to_string(i) + name), index});
    }
  }
  // Of equal values the latest comes first and stays.
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.value, b.name) < std::tie(b.value, a.name);
  });
  const auto same = [](const Point& a, const Point& b) { return a.value == b.value; };
  points_.erase(std::unique(points_.begin(), points_.end(), same), points_.end());
}

std::optional<std::string_view> Groupcache::get(std::string_view key) const {
  if (points_.empty()) return std::nullopt;
  auto found =
      std::lower_bound(points_.begin(), points_.end(), hash_(key),
                       [](const Point& point, uint32_t wanted) { return point.value < wanted; });
  if (found == points_.end()) found = points_.begin();
  return names_[found->name];
}

}  // namespace torc::placement::compat
