#include "placement/compat/haproxy.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace torc::placement::compat {
namespace {

using Servers = std::vector<Haproxy::Server>;
using Served = std::vector<uint32_t>;

Haproxy make(const Servers& servers, uint32_t factor = 0) {
  auto made = Haproxy::make(servers, factor);
  REQUIRE(made.has_value());
  return *std::move(made);
}

const Servers kThree = {{"s1", 1, 1}, {"s2", 2, 2}, {"s3", 3, 1}};

TEST_CASE("haproxy: the hashes of a key, and the avalanche behind them") {
  CHECK(haproxy_hash("haproxy") == 248846773);
  CHECK(haproxy_hash("haproxy", HaproxyHash::kDjb2) == 869782672);
  CHECK(haproxy_hash("haproxy", HaproxyHash::kWt6) == 2154904979);
  CHECK(haproxy_hash("haproxy", HaproxyHash::kCrc32) == 1405960096);
  CHECK(haproxy_avalanche(0) == 2874071335);
  CHECK(haproxy_avalanche(4096) == 1237450891);
  CHECK(haproxy_hash("haproxy", HaproxyHash::kSdbm, true) == haproxy_avalanche(248846773));
}

TEST_CASE("haproxy: 16 points per weight unit at the avalanche of id x 4096 + number") {
  const Haproxy haproxy = make(kThree);
  std::string owners;
  std::map<uint32_t, int> counts;
  for (int i = 0; i < 100'000; ++i) {
    const auto hash = haproxy_hash("key" + std::to_string(i), HaproxyHash::kSdbm, true);
    const auto server = haproxy.server_at(hash).value();
    ++counts[server];
    if (i < 20) owners += std::to_string(server + 1);
  }
  CHECK(owners == "21332212132222222222");
  CHECK(counts == std::map<uint32_t, int>{{0, 29496}, {1, 44733}, {2, 25771}});
}

TEST_CASE("haproxy: without the avalanche, sdbm leaves neighbouring keys on one server") {
  const Haproxy haproxy = make(kThree);
  std::string owners;
  for (int i = 0; i < 20; ++i) {
    owners += std::to_string(*haproxy.server_at(haproxy_hash("key" + std::to_string(i))) + 1);
  }
  CHECK(owners == "11111111112222222222");
}

TEST_CASE("haproxy: a hash goes to the nearest point on either side, the one before on a tie") {
  CHECK(rc::check("server_at = nearest of all points", [](uint32_t hash) {
    const auto weights = *rc::gen::container<std::vector<uint32_t>>(rc::gen::inRange(0u, 4u));
    Servers servers;
    for (uint32_t i = 0; i < weights.size(); ++i) {
      servers.push_back({"s" + std::to_string(i), 10 + i, weights[i]});
    }
    // The distance backwards, doubled, wins a tie against the same distance ahead.
    std::optional<std::pair<uint64_t, uint32_t>> nearest;
    for (uint32_t s = 0; s < servers.size(); ++s) {
      for (uint32_t i = 0; i < 16 * servers[s].weight; ++i) {
        const uint32_t point = haproxy_avalanche(servers[s].id * 4096 + i);
        const uint64_t back = 2 * uint64_t{hash - point};
        const uint64_t ahead = 2 * uint64_t{point - hash} + 1;
        const std::pair here(std::min(back, ahead), s);
        nearest = nearest ? std::min(*nearest, here) : here;
      }
    }
    const auto found = Haproxy::make(servers)->server_at(hash);
    RC_ASSERT(found.has_value() == nearest.has_value());
    if (nearest) RC_ASSERT(*found == nearest->second);
  }));
}

TEST_CASE("haproxy: a server to be avoided is passed over") {
  const Haproxy haproxy = make(kThree);
  CHECK(rc::check("never the avoided one", [&](uint32_t hash) {
    const auto first = haproxy.server_at(hash);
    const auto second = haproxy.server_at(hash, {}, first);
    return second.has_value() && second != first;
  }));
  CHECK(make({{"only", 1, 1}}).server_at(7, {}, 0u) == 0u);
}

TEST_CASE("haproxy: slots are ceil((served + 1) x factor / 100), shared by weight, at least one") {
  const Haproxy haproxy = make(kThree, 150);
  // 11 requests x 1.5 = 16.5, so 17 slots for the weights 1, 2, 1.
  CHECK(haproxy.slots(0, 10) == 4);
  CHECK(haproxy.slots(1, 10) == 8);
  CHECK(haproxy.slots(2, 10) == 5);
  CHECK(haproxy.slots(0, 0) == 1);
  CHECK(haproxy.slots(1, 0) == 1);
}

TEST_CASE("haproxy: no slot is lost to rounding when the requests are many") {
  CHECK(rc::check("sum of slots = ceil((served + 1) x factor / 100)", [] {
    Servers servers;
    for (uint32_t i = *rc::gen::inRange(1u, 9u); i > 0; --i) {
      servers.push_back({"s" + std::to_string(i), i, *rc::gen::inRange(1u, 257u)});
    }
    const auto factor = *rc::gen::inRange(101u, 400u);
    const uint64_t served = *rc::gen::inRange(100'000u, 1'000'000u);
    const Haproxy haproxy = Haproxy::make(servers, factor).value();
    uint64_t sum = 0;
    for (uint32_t s = 0; s < servers.size(); ++s) sum += haproxy.slots(s, served);
    RC_ASSERT(sum == ((served + 1) * factor + 99) / 100);
  }));
}

TEST_CASE("haproxy: with a balance factor a full server's requests walk on to the next points") {
  const Haproxy haproxy = make(kThree, 125);
  const uint32_t hash = haproxy_hash("hot", HaproxyHash::kSdbm, true);
  Served served(3, 0);
  for (int i = 0; i < 1000; ++i) ++served[haproxy.server_at(hash, served).value()];
  CHECK(std::accumulate(served.begin(), served.end(), 0u) == 1000);
  for (uint32_t s = 0; s < 3; ++s) CHECK(served[s] <= haproxy.slots(s, 999));
  Served without(3, 0);
  for (int i = 0; i < 1000; ++i) ++without[make(kThree).server_at(hash, without).value()];
  CHECK(*std::max_element(without.begin(), without.end()) == 1000);
}

TEST_CASE("haproxy: no servers, or none with weight, have no answer") {
  CHECK_FALSE(make({}).server_at(1).has_value());
  CHECK_FALSE(make({{"down", 1, 0}}).server_at(1).has_value());
}

TEST_CASE("haproxy: doubled ids or names, weights above 256 and factors up to 100 are errors") {
  const auto error = [](const Servers& servers, uint32_t factor = 0) {
    return Haproxy::make(servers, factor).error();
  };
  CHECK(error({{"a", 1, 1}, {"b", 1, 1}}) == "'a' and 'b' have the same id");
  CHECK(error({{"a", 1, 1}, {"a", 2, 1}}) == "two servers are named 'a'");
  CHECK(error({{"a", 1, 257}}) == "the weight of 'a' is 257; the most is 256");
  CHECK(error(kThree, 100) == "the balance factor must be 0 or above 100, not 100");
}

}  // namespace
}  // namespace torc::placement::compat
