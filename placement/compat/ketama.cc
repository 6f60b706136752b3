#include "placement/compat/ketama.h"

#include <algorithm>
#include <cassert>
#include <tuple>

#include "placement/ring_hash.h"

namespace torc::placement::compat {
namespace {

constexpr uint32_t kPointsPerDigest = 4;
constexpr uint32_t kDigestsPerServer = 40;
constexpr std::string_view kDefaultPort = ":11211";

uint32_t point_of(const std::array<uint8_t, 16>& digest, uint32_t number) {
  const uint8_t* bytes = digest.data() + 4 * number;
  return uint32_t{bytes[3]} << 24 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[1]} << 8 | bytes[0];
}

// How many digests a server gets. Truncation is the floor of the originals: nothing is negative.
uint32_t digest_count(Ketama::Variant variant, uint32_t weight, uint64_t total, size_t servers) {
  const float part = static_cast<float>(weight) / static_cast<float>(total);
  const auto count = static_cast<float>(servers);
  if (variant == Ketama::Variant::kLibketama) {
    // ketama.c multiplies in double precision and hands the product to floorf().
    return static_cast<uint32_t>(static_cast<float>(double{part} * 40.0 * double{count}));
  }
  // hosts.cc stays in single precision, and nudges the product upwards.
  return static_cast<uint32_t>(part * 160.0F / 4.0F * count + 0.0000000001F);
}

}  // namespace

std::expected<Ketama, std::string> Ketama::make(std::span<const Server> servers, Variant variant) {
  if (servers.empty()) return std::unexpected("no servers");
  if (servers.size() > kPointsMax / kPointsPerDigest / kDigestsPerServer) {
    return std::unexpected(std::to_string(servers.size()) + " servers are too many");
  }
  Ketama ketama;
  uint64_t total = 0;
  for (const Server& server : servers) {
    if (server.address.empty()) return std::unexpected("a server without an address");
    if (server.weight == 0) {
      return std::unexpected("server '" + server.address + "' has the weight 0");
    }
    total += server.weight;
    ketama.addresses_.push_back(server.address);
  }
  std::vector<std::string> sorted = ketama.addresses_;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return std::unexpected("server '" + *twice + "' is listed twice");
  }

  for (uint32_t s = 0; s < servers.size(); ++s) {
    std::string_view name = servers[s].address;
    if (variant == Variant::kLibmemcached && name.ends_with(kDefaultPort)) {
      name.remove_suffix(kDefaultPort.size());
    }
    const uint32_t digests = digest_count(variant, servers[s].weight, total, servers.size());
    for (uint32_t k = 0; k < digests; ++k) {
      const auto digest = md5(std::string(name) + "-" + std::to_string(k));
      for (uint32_t i = 0; i < kPointsPerDigest; ++i) {
        ketama.points_.push_back({point_of(digest, i), s});
      }
    }
  }
  std::sort(ketama.points_.begin(), ketama.points_.end(), [](const Point& a, const Point& b) {
    return std::tie(a.value, a.server) < std::tie(b.value, b.server);
  });
  return ketama;
}

uint32_t Ketama::hash(std::string_view key) {
  return point_of(md5(key), 0);
}

const Ketama::Point& Ketama::point_at(uint32_t hash) const {
  assert(!points_.empty());
  const auto found =
      std::lower_bound(points_.begin(), points_.end(), hash,
                       [](const Point& point, uint32_t wanted) { return point.value < wanted; });
  return found == points_.end() ? points_.front() : *found;
}

}  // namespace torc::placement::compat
