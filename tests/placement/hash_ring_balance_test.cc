#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "placement/hash_ring.h"
#include "tests/placement/key_sample.h"

namespace torc::placement {
namespace {

HashRing ring_of(HashRingParameters parameters, const std::vector<std::string>& names) {
  HashRing ring(parameters);
  for (const std::string& name : names) REQUIRE(ring.add(name).has_value());
  return ring;
}

double tenths(double percent) {
  return std::round(percent * 10) / 10;
}

struct Balance {
  double max_over_mean = 0;
  double sd_percent = 0;
};

// Of the exact arcs of ten nodes, averaged over many clusters.
Balance balance_of_ten(uint32_t tokens_per_node) {
  constexpr int kClusters = 200;
  constexpr int kNodes = 10;
  Balance sum;
  double variance = 0;
  for (int c = 0; c < kClusters; ++c) {
    HashRing ring({RingHash::kXxh3, tokens_per_node, '#'});
    for (int n = 0; n < kNodes; ++n) {
      REQUIRE(ring.add("c" + std::to_string(c) + "-n" + std::to_string(n)).has_value());
    }
    const std::vector<double> shares = ring.snapshot()->shares();
    double squares = 0;
    for (const double share : shares) squares += (share * kNodes - 1) * (share * kNodes - 1);
    sum.max_over_mean += *std::max_element(shares.begin(), shares.end()) * kNodes / kClusters;
    variance += squares / kNodes / kClusters;
  }
  sum.sd_percent = 100 * std::sqrt(variance);
  return sum;
}

TEST_CASE("hash ring: with V=1 the fullest of ten nodes has about 2.9 times the mean") {
  CHECK(balance_of_ten(1).max_over_mean == doctest::Approx(2.9).epsilon(0.05));
}

TEST_CASE("hash ring: sd about 47 % with V=4 and 8.5 % with V=128, the 1/sqrt(V) law") {
  const double four = balance_of_ten(4).sd_percent;
  const double many = balance_of_ten(128).sd_percent;
  CHECK(four == doctest::Approx(47).epsilon(0.05));
  CHECK(many == doctest::Approx(8.5).epsilon(0.05));
  CHECK(four / many == doctest::Approx(std::sqrt(128.0 / 4)).epsilon(0.05));
}

TEST_CASE("hash ring: weight 2 gets twice the share") {
  HashRing ring({RingHash::kXxh3, 2000, '#'});
  REQUIRE(ring.add("a").has_value());
  REQUIRE(ring.add("b", 2).has_value());
  REQUIRE(ring.add("c").has_value());
  const std::vector<double> shares = ring.snapshot()->shares();
  CHECK(shares[1] == doctest::Approx(0.5).epsilon(0.05));
  CHECK(shares[0] == doctest::Approx(0.25).epsilon(0.05));
}

TEST_CASE("hash ring: with V=1 a dead node's load falls on one neighbour, with vnodes on many") {
  const auto keys = sample_keys(20'000);
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) names.push_back("n" + std::to_string(i));
  const auto heirs = [&](uint32_t tokens_per_weight) {
    HashRing ring = ring_of({RingHash::kXxh3, tokens_per_weight, '#'}, names);
    const auto before = owners_of(ring, keys);
    REQUIRE(ring.remove("n3"));
    const auto after = owners_of(ring, keys);
    std::map<std::string, int> gained;
    for (size_t i = 0; i < keys.size(); ++i) {
      if (before[i] == "n3") ++gained[after[i]];
    }
    return gained.size();
  };
  CHECK(heirs(1) == 1);
  CHECK(heirs(128) == 9);
}

TEST_CASE("hash ring: a join moves about 1/(N+1) of the keys, all of them to the new node") {
  const auto keys = sample_keys(50'000);
  HashRing ring = ring_of({}, {"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"});
  const auto before = owners_of(ring, keys);
  REQUIRE(ring.add("n10").has_value());
  const auto after = owners_of(ring, keys);
  size_t moved = 0;
  size_t moved_elsewhere = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (before[i] == after[i]) continue;
    ++moved;
    moved_elsewhere += after[i] != "n10" ? 1 : 0;
  }
  CHECK(moved_elsewhere == 0);
  CHECK(static_cast<double>(moved) / 50'000 == doctest::Approx(0.1).epsilon(0.25));
}

TEST_CASE("hash ring: a departure moves only the departed node's keys") {
  const auto keys = sample_keys(20'000);
  HashRing ring = ring_of({}, {"n1", "n2", "n3", "n4", "n5"});
  const auto before = owners_of(ring, keys);
  REQUIRE(ring.remove("n2"));
  const auto after = owners_of(ring, keys);
  bool only_its_own = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    only_its_own = only_its_own && (before[i] == after[i]) == (before[i] != "n2");
  }
  CHECK(only_its_own);
}

TEST_CASE("hash ring: MD5, V=100, s1..s4 then s5: 17.1 % moved; 17.1 18.9 20.6 21.5 22.0 %") {
  const auto keys = sample_keys(100'000);
  HashRing ring = ring_of({RingHash::kMd5, 100, '#'}, {"s1", "s2", "s3", "s4"});
  const auto before = owners_of(ring, keys);
  REQUIRE(ring.add("s5").has_value());
  const auto after = owners_of(ring, keys);
  double moved = 0;
  for (size_t i = 0; i < keys.size(); ++i) moved += before[i] != after[i] ? 0.001 : 0;
  CHECK(tenths(moved) == 17.1);
  std::vector<double> shares;
  for (const auto& [name, share] : shares_of(after)) shares.push_back(tenths(share));
  std::sort(shares.begin(), shares.end());
  CHECK(shares == std::vector<double>{17.1, 18.9, 20.6, 21.5, 22.0});
}

TEST_CASE("hash ring: MD5 and V=1: the shares of s1..s5 run from 2.9 to 29.7 %") {
  const HashRing ring = ring_of({RingHash::kMd5, 1, '#'}, {"s1", "s2", "s3", "s4", "s5"});
  std::vector<double> shares;
  for (const auto& [name, share] : shares_of(owners_of(ring, sample_keys(100'000)))) {
    shares.push_back(tenths(share));
  }
  std::sort(shares.begin(), shares.end());
  CHECK(shares.front() == 2.9);
  CHECK(shares.back() == 29.7);
}

TEST_CASE("hash ring: FNV-1a-32 over node:i, 100 each, gives A, B, C 30.5, 22.0 and 47.5 %") {
  const HashRing ring = ring_of({RingHash::kFnv1a32, 100, ':'}, {"A", "B", "C"});
  auto shares = shares_of(owners_of(ring, sample_keys(100'000)));
  CHECK(tenths(shares["A"]) == 30.5);
  CHECK(tenths(shares["B"]) == 22.0);
  CHECK(tenths(shares["C"]) == 47.5);
}

TEST_CASE("hash ring: one hot key stays on its owners, however many nodes there are") {
  HashRing ring = ring_of({}, {"n1", "n2", "n3"});
  const std::string_view key = "the key everybody reads";
  const auto few = ring.snapshot();
  for (int i = 4; i <= 100; ++i) REQUIRE(ring.add("n" + std::to_string(i)).has_value());
  const auto many = ring.snapshot();
  // Three nodes or a hundred: one answers for it, and three copies are all that can share the
  // reads.
  CHECK(few->replicas(key, 3).nodes.size() == 3);
  CHECK(many->replicas(key, 3).nodes.size() == 3);
  CHECK(many->replicas(key, 1).nodes.front() == *many->owner(key));
}

TEST_CASE("hash ring: splitting a hot key into key/0, key/1 ... spreads it over the nodes") {
  HashRing ring;
  for (int i = 1; i <= 20; ++i) REQUIRE(ring.add("n" + std::to_string(i)).has_value());
  std::vector<std::string> parts;
  for (int i = 0; i < 64; ++i) parts.push_back("the key everybody reads/" + std::to_string(i));
  CHECK(shares_of(owners_of(ring, parts)).size() >= 15);
}

}  // namespace
}  // namespace torc::placement
