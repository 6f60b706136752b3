// Serialx: the ring of Go's serialx/hashring. A node has as many points as its weight, at the MD5
// of NODE-J read as two signed little-endian 64-bit integers, and a key belongs to the first point
// strictly after its own. Immutable, as the original is: a change gives another ring; any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace torc::placement::compat {

class Serialx {
 public:
  using Weights = std::map<std::string, int64_t>;

  // Every node weighs 1; one that is listed twice counts twice and owns no more for it.
  explicit Serialx(std::vector<std::string> nodes);
  // A weight below 1 gives a node without points.
  explicit Serialx(const Weights& weights);

  // The same ring when the node is there already or the weight is below 1.
  Serialx add_node(const std::string& node) const { return add_weighted_node(node, 1); }
  Serialx add_weighted_node(const std::string& node, int64_t weight) const;
  // The same ring when there is no such node, the weight is below 1 or it is the node's.
  Serialx update_weighted_node(const std::string& node, int64_t weight) const;
  Serialx remove_node(const std::string& node) const;
  // The ring of these weights alone.
  Serialx update_with_weights(const Weights& weights) const { return Serialx(weights); }

  size_t size() const { return nodes_.size(); }
  const Weights& weights() const { return weights_; }

  // Nothing when the ring has no points.
  std::optional<std::string> get_node(std::string_view key) const;

  struct Nodes {
    std::vector<std::string> nodes;  // distinct, in the order of the walk
    bool ok = false;                 // exactly as many as were asked for
  };
  // None at all when more are asked for than size(). The original walks before it counts, so asking
  // for none gives every node, and not ok.
  Nodes get_nodes(std::string_view key, size_t count) const;

 private:
  struct Position {
    int64_t high;
    int64_t low;
    auto operator<=>(const Position&) const = default;
  };
  struct Point {
    Position position;
    uint32_t node;  // position in nodes_
  };

  Serialx(std::vector<std::string> nodes, Weights weights);
  static Position position_of(std::string_view text);
  size_t point_after(std::string_view key) const;

  std::vector<std::string> nodes_;  // in the order they came
  Weights weights_;
  std::vector<Point> points_;  // sorted
};

// All points of one ring; the rest of an absurd weight is left out.
constexpr int64_t kSerialxPointsMax = 4'000'000;

}  // namespace torc::placement::compat
