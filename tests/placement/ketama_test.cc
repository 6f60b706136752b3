#include "placement/compat/ketama.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <memory>

#include "placement/ring_hash.h"

namespace torc::placement::compat {
namespace {

using Servers = std::vector<Ketama::Server>;
using enum Ketama::Variant;

Ketama make(const Servers& servers, Ketama::Variant variant = kLibketama) {
  auto made = Ketama::make(servers, variant);
  REQUIRE(made.has_value());
  return *std::move(made);
}

// How many points each server has, in the order of the list.
std::vector<size_t> point_counts(const Ketama& ketama) {
  std::vector<size_t> counts(ketama.addresses().size(), 0);
  for (const auto& point : ketama.points()) ++counts[point.server];
  return counts;
}

// The servers of libketama's own test.
Servers eight_servers() {
  const uint32_t weights[] = {600, 300, 200, 350, 1000, 800, 950, 100};
  Servers servers;
  for (int i = 0; i < 8; ++i) {
    servers.push_back({"10.0.1." + std::to_string(i + 1) + ":11211", weights[i]});
  }
  return servers;
}

std::string hex(const uint8_t* bytes, size_t size) {
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    out += "0123456789abcdef"[bytes[i] >> 4];
    out += "0123456789abcdef"[bytes[i] & 15];
  }
  return out;
}

TEST_CASE("ketama: a million keys on eight weighted servers give libketama's published MD5") {
  const Ketama ketama = make(eight_servers());
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest(EVP_MD_CTX_new(),
                                                                  EVP_MD_CTX_free);
  REQUIRE(EVP_DigestInit_ex(digest.get(), EVP_md5(), nullptr) == 1);
  std::string lines = "\n";
  for (int i = 0; i < 1'000'000; ++i) {
    const uint32_t hash = Ketama::hash(std::to_string(i));
    const auto& point = ketama.point_at(hash);
    lines += std::to_string(hash) + " " + std::to_string(point.value) + " " +
             ketama.addresses()[point.server] + "\n";
    if (lines.size() > 1'000'000 || i == 999'999) {
      REQUIRE(EVP_DigestUpdate(digest.get(), lines.data(), lines.size()) == 1);
      lines.clear();
    }
  }
  uint8_t result[16];
  REQUIRE(EVP_DigestFinal_ex(digest.get(), result, nullptr) == 1);
  CHECK(hex(result, sizeof result) == "5672b131391f5aa2b280936aec1eea74");
}

TEST_CASE("ketama: a server gets floorf(weight / total x 40 x servers) digests of four points") {
  // 40 x 8 x weight / 4300: 44.65, 22.3, 14.9, 26.05, 74.4, 59.5, 70.7, 7.4
  CHECK(point_counts(make(eight_servers())) ==
        std::vector<size_t>{4 * 44, 4 * 22, 4 * 14, 4 * 26, 4 * 74, 4 * 59, 4 * 70, 4 * 7});
}

TEST_CASE("ketama: equal servers get 160 points each, whatever their weight") {
  for (const uint32_t weight : {1u, 7u, 4'000'000'000u}) {
    CHECK(point_counts(make({{"a:1", weight}, {"b:1", weight}})) == std::vector<size_t>{160, 160});
  }
}

TEST_CASE("ketama: single precision decides at the edges, as in the original") {
  // A third is not a float: 0.333333343 x 40 x 3 = 40.0000012 is 40, and with seven servers
  // 0.142857149 x 280 = 40.0000017, 40 as well, which double precision would have made 39.
  for (const size_t count : {3u, 7u, 49u}) {
    Servers servers;
    for (size_t i = 0; i < count; ++i) servers.push_back({"s" + std::to_string(i) + ":1", 1});
    CHECK(point_counts(make(servers)) == std::vector<size_t>(count, 160));
    CHECK(point_counts(make(servers, kLibmemcached)) == std::vector<size_t>(count, 160));
  }
}

TEST_CASE("ketama: a point is four bytes of the MD5 of host:port-k, little-endian") {
  const Ketama ketama = make({{"127.0.0.1:11212", 1}});
  const auto digest = md5("127.0.0.1:11212-39");
  const uint32_t last = digest[12] | uint32_t{digest[13]} << 8 | uint32_t{digest[14]} << 16 |
                        uint32_t{digest[15]} << 24;
  const auto& points = ketama.points();
  CHECK(points.size() == 160);
  CHECK(std::any_of(points.begin(), points.end(), [&](auto p) { return p.value == last; }));
}

TEST_CASE("ketama: the owner is the first point at or after the hash, the first past the last") {
  const Ketama ketama = make(eight_servers());
  const auto& points = ketama.points();
  CHECK(rc::check("point_at = scan", [&](uint32_t hash) {
    const auto scan = std::find_if(points.begin(), points.end(),
                                   [&](const auto& point) { return point.value >= hash; });
    return ketama.point_at(hash) == (scan == points.end() ? points.front() : *scan);
  }));
  CHECK(ketama.point_at(points[5].value) == points[5]);
  CHECK(ketama.point_at(UINT32_MAX) == points.front());
  CHECK(ketama.point_at(0) == points.front());
}

TEST_CASE("ketama: libmemcached leaves out :11211 and keeps any other port") {
  const Servers servers = {{"10.0.1.1:11211", 2}, {"10.0.1.2:11212", 1}};
  const Ketama original = make(servers);
  const Ketama memcached = make(servers, kLibmemcached);
  CHECK(point_counts(original) == point_counts(memcached));
  const auto has = [](const Ketama& ketama, std::string_view text) {
    const auto digest = md5(text);
    const uint32_t value = digest[0] | uint32_t{digest[1]} << 8 | uint32_t{digest[2]} << 16 |
                           uint32_t{digest[3]} << 24;
    const auto& points = ketama.points();
    return std::any_of(points.begin(), points.end(), [&](auto p) { return p.value == value; });
  };
  CHECK(has(original, "10.0.1.1:11211-0"));
  CHECK_FALSE(has(original, "10.0.1.1-0"));
  CHECK(has(memcached, "10.0.1.1-0"));
  CHECK_FALSE(has(memcached, "10.0.1.1:11211-0"));
  CHECK(has(memcached, "10.0.1.2:11212-0"));
  CHECK(memcached.addresses().front() == "10.0.1.1:11211");
}

TEST_CASE("ketama: a server too light for a point owns nothing, and that is no error") {
  const Ketama ketama = make({{"a:1", 1'000'000}, {"b:1", 1}});
  CHECK(point_counts(ketama) == std::vector<size_t>{4 * 79, 0});
}

TEST_CASE("ketama: no servers, empty or doubled addresses and a weight of 0 are errors") {
  const auto error = [](const Servers& servers) { return Ketama::make(servers).error(); };
  CHECK(error({}) == "no servers");
  CHECK(error({{"", 1}}) == "a server without an address");
  CHECK(error({{"a:1", 1}, {"b:1", 0}}) == "server 'b:1' has the weight 0");
  CHECK(error({{"a:1", 1}, {"b:1", 1}, {"a:1", 2}}) == "server 'a:1' is listed twice");
}

}  // namespace
}  // namespace torc::placement::compat
