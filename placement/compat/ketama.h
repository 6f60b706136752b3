// Ketama: the continuum of libketama and of libmemcached's weighted ketama, for clients that move
// from memcached. The same servers in the same order give the points and owners those libraries
// give, their single-precision arithmetic included. Immutable once made; any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torc::placement::compat {

class Ketama {
 public:
  enum class Variant : uint8_t {
    kLibketama,     // points of HOST:PORT-K
    kLibmemcached,  // the same, but HOST-K for the port 11211
  };
  struct Server {
    std::string address;  // HOST:PORT
    uint32_t weight = 1;  // above 0
  };
  struct Point {
    uint32_t value;
    uint32_t server;  // position in the list the continuum was made from
    bool operator==(const Point&) const = default;
  };

  // Refuses an empty list, an empty address, an address that comes twice, a weight of 0, and more
  // points than kPointsMax.
  static std::expected<Ketama, std::string> make(std::span<const Server> servers,
                                                 Variant variant = Variant::kLibketama);

  // The first four bytes of the key's MD5, little-endian.
  static uint32_t hash(std::string_view key);

  // The first point at or after the hash, or the first of all. REQUIRES: points() is not empty.
  const Point& point_at(uint32_t hash) const;
  const std::string& server(std::string_view key) const {
    return addresses_[point_at(hash(key)).server];
  }

  // Sorted. Empty when every server is so light beside the others that its points round to none.
  const std::vector<Point>& points() const { return points_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

  static constexpr size_t kPointsMax = 4'000'000;

 private:
  Ketama() = default;

  std::vector<std::string> addresses_;
  std::vector<Point> points_;
};

}  // namespace torc::placement::compat
