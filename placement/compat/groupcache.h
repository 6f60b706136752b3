// Groupcache: the consistent hash of Go's groupcache, which finds the peer that owns a key. Each
// name has the points hash(decimal(i) + name), the first point at or after the key's hash owns it,
// and of two names with one point the one added later has it. One thread changes it; const calls
// from any.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torc::placement::compat {

class Groupcache {
 public:
  using Hash = std::function<uint32_t(std::string_view)>;

  static constexpr uint32_t kReplicas = 50;

  // Without a hash: CRC32-IEEE.
  explicit Groupcache(uint32_t replicas = kReplicas, Hash hash = nullptr);

  void add(std::span<const std::string> names);
  bool is_empty() const { return points_.empty(); }
  // Nothing when no name was added.
  std::optional<std::string_view> get(std::string_view key) const;

 private:
  struct Point {
    uint32_t value;
    uint32_t name;  // position in names_, the order of addition
  };

  uint32_t replicas_;
  Hash hash_;
  std::vector<std::string> names_;
  std::vector<Point> points_;  // sorted, one for each value
};

}  // namespace torc::placement::compat
