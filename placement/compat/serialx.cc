#include "placement/compat/serialx.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "placement/ring_hash.h"

namespace torc::placement::compat {
namespace {

int64_t little_endian(const uint8_t* bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | bytes[i];
  return static_cast<int64_t>(value);
}

std::vector<std::string> names_of(const Serialx::Weights& weights) {
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights) names.push_back(name);
  return names;
}

}  // namespace

Serialx::Serialx(std::vector<std::string> nodes) : Serialx(std::move(nodes), {}) {}

Serialx::Serialx(const Weights& weights) : Serialx(names_of(weights), weights) {}

Serialx::Serialx(std::vector<std::string> nodes, Weights weights)
    : nodes_(std::move(nodes)), weights_(std::move(weights)) {
  for (uint32_t n = 0; n < nodes_.size(); ++n) {
    const int64_t weight = weights_.try_emplace(nodes_[n], 1).first->second;
    const int64_t room = kSerialxPointsMax - static_cast<int64_t>(points_.size());
    for (int64_t j = 0; j < std::min(weight, room); ++j) {
      points_.push_back({position_of(nodes_[n] + "-" + std::to_string(j)), n});
    }
  }
  std::sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.position, a.node) < std::tie(b.position, b.node);
  });
}

Serialx::Position Serialx::position_of(std::string_view text) {
  const auto digest = md5(text);
  return {little_endian(digest.data()), little_endian(digest.data() + 8)};
}

Serialx Serialx::add_weighted_node(const std::string& node, int64_t weight) const {
  if (weight < 1 || weights_.contains(node)) return *this;
  std::vector<std::string> nodes = nodes_;
  nodes.push_back(node);
  Weights weights = weights_;
  weights[node] = weight;
  return Serialx(std::move(nodes), std::move(weights));
}

Serialx Serialx::update_weighted_node(const std::string& node, int64_t weight) const {
  const auto known = weights_.find(node);
  if (weight < 1 || known == weights_.end() || known->second == weight) return *this;
  Weights weights = weights_;
  weights[node] = weight;
  return Serialx(nodes_, std::move(weights));
}

Serialx Serialx::remove_node(const std::string& node) const {
  if (!weights_.contains(node)) return *this;
  std::vector<std::string> nodes = nodes_;
  std::erase(nodes, node);
  Weights weights = weights_;
  weights.erase(node);
  return Serialx(std::move(nodes), std::move(weights));
}

size_t Serialx::point_after(std::string_view key) const {
  const Position wanted = position_of(key);
  const auto found = std::upper_bound(
      points_.begin(), points_.end(), wanted,
      [](const Position& position, const Point& point) { return position < point.position; });
  return found == points_.end() ? 0 : static_cast<size_t>(found - points_.begin());
}

std::optional<std::string> Serialx::get_node(std::string_view key) const {
  if (points_.empty()) return std::nullopt;
  return nodes_[points_[point_after(key)].node];
}

Serialx::Nodes Serialx::get_nodes(std::string_view key, size_t count) const {
  Nodes answer;
  if (points_.empty() || count > nodes_.size()) return answer;
  const size_t start = point_after(key);
  for (size_t step = 0; step < points_.size(); ++step) {
    const std::string& node = nodes_[points_[(start + step) % points_.size()].node];
    if (std::find(answer.nodes.begin(), answer.nodes.end(), node) == answer.nodes.end()) {
      answer.nodes.push_back(node);
    }
    if (answer.nodes.size() == count) break;
  }
  answer.ok = answer.nodes.size() == count;
  return answer;
}

}  // namespace torc::placement::compat
