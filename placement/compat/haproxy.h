// HAProxy: its consistent hashing (`hash-type consistent`), with `hash-balance-factor`. A server
// has 16 points for each unit of weight at places that its numeric id decides, and a hash goes to
// the nearest point on either side. One thread changes it; const calls from any.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torc::placement::compat {

class Haproxy {
 public:
  struct Server {
    std::string name;
    uint32_t id = 0;      // HAProxy counts from 1 unless the configuration says otherwise
    uint32_t weight = 1;  // 0..256; 0 takes no traffic
  };
  // Position in the list, which is the order of the configuration.
  using Index = uint32_t;

  static constexpr uint32_t kPointsPerWeight = 16;
  static constexpr uint32_t kWeightMax = 256;
  static constexpr size_t kServersMax = 1024;

  // `balance_factor`, in percent: no server has more than this times its part of the requests; 0 is
  // no bound. Refuses an id or a name that comes twice, a weight above 256, a factor of 1..100 and
  // more than kServersMax servers.
  static std::expected<Haproxy, std::string> make(std::span<const Server> servers,
                                                  uint32_t balance_factor = 0);

  // The server for a hash, given the requests each is serving; nothing when no server has a point.
  // `avoid` is passed over, as after a failed connection. When every server is at its bound, which
  // a factor above 100 does not allow, the last one met.
  // REQUIRES: served is empty (all idle) or has one number for each server.
  std::optional<Index> server_at(uint32_t hash, std::span<const uint32_t> served = {},
                                 std::optional<Index> avoid = std::nullopt) const;

  // How many requests at once a server may have when `served_total` are running and one more comes:
  // ceil((served_total + 1) x factor / 100) slots are shared by weight, and each gets at least one.
  uint64_t slots(Index server, uint64_t served_total) const;

  const std::vector<Server>& servers() const { return servers_; }

 private:
  struct Point {
    uint32_t value;
    Index server;
    uint32_t number;
  };

  Haproxy() = default;

  std::vector<Server> servers_;
  std::vector<uint64_t> weight_before_;  // of the servers listed before each, in points
  uint64_t weight_total_ = 0;            // in points
  uint32_t balance_factor_ = 0;
  std::vector<Point> points_;  // sorted
};

// The avalanche HAProxy puts its points through, and a key's hash where the configuration says
// `avalanche`.
uint32_t haproxy_avalanche(uint32_t value);

// The functions of `hash-type consistent FUNCTION`; sdbm unless it names another.
enum class HaproxyHash : uint8_t { kSdbm, kDjb2, kWt6, kCrc32 };
uint32_t haproxy_hash(std::string_view key, HaproxyHash function = HaproxyHash::kSdbm,
                      bool avalanche = false);

}  // namespace torc::placement::compat
