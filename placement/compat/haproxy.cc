#include "placement/compat/haproxy.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>
#include <tuple>

#include "placement/ring_hash.h"

namespace torc::placement::compat {
namespace {

// The numbers one server id has for itself: the greatest weight times the points of a unit.
constexpr uint32_t kNumbersPerId = Haproxy::kWeightMax * Haproxy::kPointsPerWeight;

uint32_t sdbm(std::string_view key) {
  uint32_t hash = 0;
  for (const char byte : key) hash = static_cast<uint8_t>(byte) + hash * 65'599;
  return hash;
}

uint32_t djb2(std::string_view key) {
  uint32_t hash = 5381;
  for (const char byte : key) hash = hash * 33 + static_cast<uint8_t>(byte);
  return hash;
}

uint32_t wt6(std::string_view key) {
  uint32_t h0 = 0xa53c'965a;
  uint32_t h1 = 0x5ca6'953a;
  int step0 = 6;
  int step1 = 18;
  for (const char byte : key) {
    const uint32_t mixed0 = ~(h0 ^ static_cast<uint8_t>(byte));
    const uint32_t mixed1 = ~(h1 + static_cast<uint8_t>(byte));
    h0 = std::rotl(mixed1, step0);
    h1 = std::rotl(mixed0, step1);
    const uint32_t steps = (h0 >> 16 ^ h1) & 0xffff;
    step0 = static_cast<int>(steps & 0x1f);
    step1 = static_cast<int>(steps >> 11);
  }
  return h0 ^ h1;
}

}  // namespace

// Bob Jenkins' full avalanche of an integer, spread further by a prime near three quarters of the
// circle.
uint32_t haproxy_avalanche(uint32_t value) {
  value = (value + 0x7ed5'5d16) + (value << 12);
  value = (value ^ 0xc761'c23c) ^ (value >> 19);
  value = (value + 0x1656'67b1) + (value << 5);
  value = (value + 0xd3a2'646c) ^ (value << 9);
  value = (value + 0xfd70'46c5) + (value << 3);
  value = (value ^ 0xb55a'4f09) ^ (value >> 16);
  return value * 3'221'225'473u;
}

uint32_t haproxy_hash(std::string_view key, HaproxyHash function, bool avalanche) {
  uint32_t hash = 0;
  switch (function) {
    case HaproxyHash::kSdbm:
      hash = sdbm(key);
      break;
    case HaproxyHash::kDjb2:
      hash = djb2(key);
      break;
    case HaproxyHash::kWt6:
      hash = wt6(key);
      break;
    case HaproxyHash::kCrc32:
      hash = crc32_ieee(key);
      break;
  }
  return avalanche ? haproxy_avalanche(hash) : hash;
}

std::expected<Haproxy, std::string> Haproxy::make(std::span<const Server> servers,
                                                  uint32_t balance_factor) {
  if (servers.size() > kServersMax) {
    return std::unexpected(std::to_string(servers.size()) + " servers; the most is " +
                           std::to_string(kServersMax));
  }
  if (balance_factor > 0 && balance_factor <= 100) {
    return std::unexpected("the balance factor must be 0 or above 100, not " +
                           std::to_string(balance_factor));
  }
  Haproxy made;
  made.servers_.assign(servers.begin(), servers.end());
  made.balance_factor_ = balance_factor;
  for (Index s = 0; s < servers.size(); ++s) {
    const Server& server = servers[s];
    if (server.weight > kWeightMax) {
      return std::unexpected("the weight of '" + server.name + "' is " +
                             std::to_string(server.weight) + "; the most is " +
                             std::to_string(kWeightMax));
    }
    for (const Server& other : servers.first(s)) {
      if (other.id == server.id) {
        return std::unexpected("'" + other.name + "' and '" + server.name + "' have the same id");
      }
      if (other.name == server.name) {
        return std::unexpected("two servers are named '" + server.name + "'");
      }
    }
    made.weight_before_.push_back(made.weight_total_);
    const uint32_t count = server.weight * kPointsPerWeight;
    made.weight_total_ += count;
    for (uint32_t i = 0; i < count; ++i) {
      made.points_.push_back({haproxy_avalanche(server.id * kNumbersPerId + i), s, i});
    }
  }
  // Points of one place stay in the order in which HAProxy put them into its tree.
  std::sort(made.points_.begin(), made.points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.value, a.server, a.number) < std::tie(b.value, b.server, b.number);
  });
  return made;
}

uint64_t Haproxy::slots(Index server, uint64_t served_total) const {
  assert(server < servers_.size() && weight_total_ > 0);
  const uint64_t total = ((served_total + 1) * balance_factor_ + 99) / 100;
  const uint64_t weight = uint64_t{servers_[server].weight} * kPointsPerWeight;
  const uint64_t rest = total % weight_total_;
  const uint64_t before = weight_before_[server];
  // The slots that do not divide evenly go out by the running sum of the weights, so none is lost.
  const uint64_t part = (before + weight) * rest / weight_total_ - before * rest / weight_total_;
  return std::max<uint64_t>(1, weight * (total / weight_total_) + part);
}

std::optional<Haproxy::Index> Haproxy::server_at(uint32_t hash, std::span<const uint32_t> served,
                                                 std::optional<Index> avoid) const {
  assert(served.empty() || served.size() == servers_.size());
  if (points_.empty()) return std::nullopt;
  const auto found =
      std::lower_bound(points_.begin(), points_.end(), hash,
                       [](const Point& point, uint32_t wanted) { return point.value < wanted; });
  const size_t after = found == points_.end() ? 0 : static_cast<size_t>(found - points_.begin());
  const size_t before = (after == 0 ? points_.size() : after) - 1;
  const uint32_t back = hash - points_[before].value;
  const uint32_t ahead = points_[after].value - hash;
  size_t at = back <= ahead ? before : after;

  const uint64_t total = std::accumulate(served.begin(), served.end(), uint64_t{0});
  const auto passed_over = [&](Index server) {
    if (server == avoid) return true;
    if (balance_factor_ == 0) return false;
    return (served.empty() ? 0 : served[server]) >= slots(server, total);
  };
  // HAProxy gives up when it passes the end of the circle a second time.
  for (int wraps = 0; passed_over(points_[at].server);) {
    if (++at < points_.size()) continue;
    at = 0;
    if (++wraps > 1) {
      // It has moved on to the first point by then, but answers with the server before.
      return points_.back().server;
    }
  }
  return points_[at].server;
}

}  // namespace torc::placement::compat
