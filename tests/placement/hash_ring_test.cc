#include "placement/hash_ring.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>
#include <unordered_map>

#include "tests/placement/key_sample.h"

namespace torc::placement {
namespace {

using Owner = std::optional<std::string_view>;

void add_at(HashRing& ring, std::string_view id, std::vector<RingValue> positions) {
  REQUIRE(ring.add_at(id, positions).has_value());
}

// A circle of 360 places, with A at 100, B at 200 and C at 300.
HashRing circle_of_360() {
  HashRing ring;
  add_at(ring, "A", {{0, 100}});
  add_at(ring, "B", {{0, 200}});
  add_at(ring, "C", {{0, 300}});
  return ring;
}

Owner at(const HashRing& ring, uint64_t hash) {
  return ring.snapshot()->owner_of_hash({0, hash});
}

// (position, id, number) of every token, clockwise.
std::vector<std::tuple<RingValue, std::string, uint32_t>> tokens(const HashRing& ring) {
  const auto snapshot = ring.snapshot();
  std::vector<std::tuple<RingValue, std::string, uint32_t>> out;
  for (size_t i = 0; i < snapshot->token_count(); ++i) {
    const auto token = snapshot->token(i);
    out.emplace_back(token.position, snapshot->nodes()[token.node].id, token.number);
  }
  return out;
}

TEST_CASE("hash ring: 0..359 with A=100 B=200 C=300: 150->B, 250->C, 350->A, 200->B") {
  const HashRing ring = circle_of_360();
  CHECK(at(ring, 150) == "B");
  CHECK(at(ring, 250) == "C");
  CHECK(at(ring, 350) == "A");
  CHECK(at(ring, 200) == "B");
}

TEST_CASE("hash ring: adding D=260 moves only 250, from C to D") {
  HashRing ring = circle_of_360();
  std::vector<Owner> before;
  const auto old = ring.snapshot();
  add_at(ring, "D", {{0, 260}});
  for (const uint64_t hash : {150u, 350u, 200u}) {
    CHECK(at(ring, hash) == old->owner_of_hash({0, hash}));
  }
  CHECK(old->owner_of_hash({0, 250}) == "C");
  CHECK(at(ring, 250) == "D");
}

TEST_CASE("hash ring: the owner is the first token at or after the hash, wrapping past the end") {
  const HashRing ring = circle_of_360();
  CHECK(at(ring, 0) == "A");
  CHECK(at(ring, 100) == "A");
  CHECK(at(ring, 101) == "B");
  CHECK(at(ring, 300) == "C");
  CHECK(at(ring, 301) == "A");
  CHECK(at(ring, UINT64_MAX) == "A");
}

TEST_CASE("hash ring: the search finds what a scan of all tokens finds, for every hash") {
  CHECK(rc::check("owner = scan", [] {
    const auto hash =
        *rc::gen::element(RingHash::kXxh3, RingHash::kMd5, RingHash::kCrc32, RingHash::kFnv1a32);
    HashRing ring({hash, *rc::gen::inRange(1u, 4u), '#'});
    for (int n = *rc::gen::inRange(1, 9); n > 0; --n) {
      RC_ASSERT(ring.add("n" + std::to_string(n)).has_value());
    }
    const auto snapshot = ring.snapshot();
    RingValue wanted = hash_value(hash, *rc::gen::arbitrary<std::string>());
    // Now and then exactly a token, or the place just past it.
    if (*rc::gen::arbitrary<bool>()) {
      const auto count = static_cast<int>(snapshot->token_count());
      wanted = snapshot->token(static_cast<size_t>(*rc::gen::inRange(0, count))).position;
      if (*rc::gen::arbitrary<bool>() && wanted.low < UINT32_MAX) ++wanted.low;
    }
    size_t scan = 0;
    while (scan < snapshot->token_count() && snapshot->token(scan).position < wanted) ++scan;
    if (scan == snapshot->token_count()) scan = 0;
    RC_ASSERT(snapshot->token_at(wanted) == scan);
  }));
}

TEST_CASE("hash ring: a hundred tokens side by side are told apart, whatever the circle's width") {
  for (const auto hash : {RingHash::kXxh3, RingHash::kCrc32}) {
    HashRing ring({hash, 1, '#'});
    for (uint64_t i = 0; i < 100; ++i) {
      add_at(ring, "n" + std::to_string(i), {{0, 1'000'000 + 3 * i}});
    }
    const auto snapshot = ring.snapshot();
    for (uint64_t i = 0; i < 100; ++i) {
      const std::string expected = "n" + std::to_string(i);
      CHECK(snapshot->owner_of_hash({0, 1'000'000 + 3 * i}) == expected);
      CHECK(snapshot->owner_of_hash({0, 999'998 + 3 * i}) == expected);
    }
    CHECK(snapshot->owner_of_hash({0, 1'000'298}) == "n0");
  }
}

TEST_CASE("hash ring: a number past the end of a narrow circle wraps to its first token") {
  HashRing ring({RingHash::kFnv1a32, 1, '#'});
  add_at(ring, "A", {{0, 5}});
  add_at(ring, "B", {{0, UINT32_MAX}});
  CHECK(at(ring, UINT32_MAX) == "B");
  CHECK(at(ring, uint64_t{1} << 32) == "A");
  CHECK(ring.snapshot()->owner_of_hash({1, 6}) == "A");
}

TEST_CASE("hash ring: tokens of one high half are told apart by the low half of a wide hash") {
  HashRing ring({RingHash::kMd5, 1, '#'});
  add_at(ring, "A", {{7, 10}});
  add_at(ring, "B", {{7, 20}});
  add_at(ring, "C", {{8, 0}});
  const auto owner = [&](RingValue hash) { return ring.snapshot()->owner_of_hash(hash); };
  CHECK(owner({7, 10}) == "A");
  CHECK(owner({7, 11}) == "B");
  CHECK(owner({7, 21}) == "C");
  CHECK(owner({8, 1}) == "A");
}

TEST_CASE("hash ring: tied tokens stand in the order of (hash, id, number), whoever came first") {
  HashRing one;
  HashRing two;
  add_at(one, "A", {{0, 5}, {0, 9}});
  add_at(one, "B", {{0, 5}, {0, 5}});
  add_at(two, "B", {{0, 5}, {0, 5}});
  add_at(two, "A", {{0, 5}, {0, 9}});
  CHECK(tokens(one) == tokens(two));
  CHECK(at(one, 5) == "A");
  CHECK(std::get<1>(tokens(one)[1]) == "B");
  CHECK(one.snapshot()->replicas_of_hash({0, 5}, 2).nodes ==
        std::vector<std::string_view>{"A", "B"});
}

TEST_CASE("hash ring: removing a node leaves the colliding token of its neighbour") {
  HashRing ring;
  add_at(ring, "A", {{0, 100}, {0, 300}});
  add_at(ring, "B", {{0, 100}});
  REQUIRE(ring.remove("A"));
  CHECK(tokens(ring) == decltype(tokens(ring)){{{0, 100}, "B", 0}});
  CHECK(at(ring, 50) == "B");
  REQUIRE(ring.add("A").has_value());
  REQUIRE(ring.remove("B"));
  CHECK(ring.snapshot()->token_count() == 128);
}

TEST_CASE(
    "hash ring: two tokens that really collide under FNV-1a both survive the other's removal") {
  // A collision of two nodes' tokens, found rather than made up.
  std::unordered_map<uint32_t, std::string> seen;
  std::string first;
  std::string second;
  for (int n = 0; second.empty(); ++n) {
    const std::string id = "n" + std::to_string(n);
    for (int i = 0; i < 100; ++i) {
      const auto [at_same, fresh] = seen.try_emplace(fnv1a_32(id + ":" + std::to_string(i)), id);
      if (!fresh && at_same->second != id) std::tie(first, second) = std::pair(at_same->second, id);
    }
  }
  const HashRingParameters parameters{RingHash::kFnv1a32, 100, ':'};
  HashRing both(parameters);
  HashRing alone(parameters);
  REQUIRE(both.add(first).has_value());
  REQUIRE(both.add(second).has_value());
  REQUIRE(alone.add(second).has_value());
  CHECK(both.snapshot()->token_count() == 200);
  REQUIRE(both.remove(first));
  CHECK(tokens(both) == tokens(alone));
}

TEST_CASE("hash ring: add puts weight x V tokens at the hashes of id#i") {
  HashRing ring({RingHash::kXxh3, 4, '#'});
  REQUIRE(ring.add("storage-17", 3).has_value());
  std::set<std::pair<RingValue, uint32_t>> expected;
  for (uint32_t i = 0; i < 12; ++i) {
    expected.emplace(hash_value(RingHash::kXxh3, "storage-17#" + std::to_string(i)), i);
  }
  std::set<std::pair<RingValue, uint32_t>> found;
  for (const auto& [position, id, number] : tokens(ring)) found.emplace(position, number);
  CHECK(found == expected);
}

TEST_CASE("hash ring: a weight of zero or less, an empty or a known id is an error that names it") {
  HashRing ring;
  REQUIRE(ring.add("a").has_value());
  const auto before = tokens(ring);
  CHECK(ring.add("b", 0).error() == "node 'b' has the weight 0; the least is 1");
  CHECK(ring.add("b", -3).error() == "node 'b' has the weight -3; the least is 1");
  CHECK(ring.add("a").error() == "node 'a' is on the ring already");
  CHECK(ring.add_at("a", std::vector<RingValue>{{0, 1}}).error() ==
        "node 'a' is on the ring already");
  CHECK(ring.add("").error() == "a node without an id");
  CHECK(ring.add_at("b", {}).error() == "node 'b' has no token");
  CHECK(ring.add("b", INT64_MAX).error().find("more than 4000000 tokens") != std::string::npos);
  CHECK(ring.reweight("b", 2).error() == "node 'b' is not on the ring");
  CHECK(ring.reweight("a", 0).error() == "node 'a' has the weight 0; the least is 1");
  CHECK(tokens(ring) == before);
}

TEST_CASE("hash ring: a token past the end of a 32-bit circle is refused") {
  HashRing ring({RingHash::kCrc32, 1, '#'});
  CHECK_FALSE(ring.add_at("a", std::vector<RingValue>{{0, uint64_t{1} << 32}}).has_value());
  CHECK_FALSE(ring.add_at("a", std::vector<RingValue>{{1, 0}}).has_value());
  CHECK(ring.add_at("a", std::vector<RingValue>{{0, UINT32_MAX}}).has_value());
}

TEST_CASE("hash ring: removing an absent node says false and changes nothing") {
  HashRing ring;
  CHECK_FALSE(ring.remove("nobody"));
  REQUIRE(ring.add("a").has_value());
  const auto held = ring.snapshot();
  CHECK_FALSE(ring.remove("b"));
  CHECK(ring.snapshot() == held);
}

TEST_CASE("hash ring: removal goes by the node's own tokens, so node1 leaves node10 whole") {
  HashRing ring;
  HashRing expected;
  for (const char* id : {"node1", "node10", "node1#0", "node"}) {
    REQUIRE(ring.add(id).has_value());
    if (std::string_view(id) != "node1") REQUIRE(expected.add(id).has_value());
  }
  REQUIRE(ring.remove("node1"));
  CHECK(tokens(ring) == tokens(expected));
}

TEST_CASE("hash ring: an empty ring has no owner and no replicas") {
  const HashRing ring;
  CHECK_FALSE(ring.snapshot()->owner("key").has_value());
  const Replicas replicas = ring.snapshot()->replicas("key", 3);
  CHECK(replicas.nodes.empty());
  CHECK(replicas.shortfall == 3);
}

TEST_CASE("hash ring: a single node owns everything") {
  HashRing ring({RingHash::kXxh3, 1, '#'});
  REQUIRE(ring.add("only").has_value());
  CHECK(rc::check("owner(key) = only",
                  [&](const std::string& key) { return ring.snapshot()->owner(key) == "only"; }));
  CHECK(ring.snapshot()->shares() == std::vector<double>{1.0});
}

TEST_CASE("hash ring: a reweight is the old tokens out and the new ones in, in one snapshot") {
  HashRing ring;
  HashRing expected;
  for (const char* id : {"a", "b"}) REQUIRE(ring.add(id).has_value());
  REQUIRE(expected.add("a", 3).has_value());
  REQUIRE(expected.add("b").has_value());
  const auto before = ring.snapshot();
  REQUIRE(ring.reweight("a", 3).has_value());
  CHECK(tokens(ring) == tokens(expected));
  CHECK(ring.snapshot()->nodes() == expected.snapshot()->nodes());
  CHECK(before->token_count() == 2 * 128);
}

TEST_CASE(
    "hash ring: the ring depends on names and weights only, not on the order or on restarts") {
  CHECK(rc::check("same members, same tokens", [] {
    auto names = *rc::gen::unique<std::vector<std::string>>(rc::gen::nonEmpty<std::string>());
    HashRing one({RingHash::kFnv1a32, 3, '#'});
    for (const auto& name : names) {
      RC_ASSERT(one.add(name, static_cast<int64_t>(name.size() % 3 + 1)).has_value());
    }
    std::reverse(names.begin(), names.end());
    HashRing two({RingHash::kFnv1a32, 3, '#'});
    RC_ASSERT(two.add("passing by!").has_value());
    for (const auto& name : names) {
      if (name == "passing by!") return;
      RC_ASSERT(two.add(name, 1).has_value());
      RC_ASSERT(two.reweight(name, static_cast<int64_t>(name.size() % 3 + 1)).has_value());
    }
    RC_ASSERT(two.remove("passing by!"));
    RC_ASSERT(tokens(one) == tokens(two));
  }));
}

TEST_CASE("hash ring: a copy goes its own way") {
  HashRing ring = circle_of_360();
  HashRing copy = ring;
  REQUIRE(copy.remove("B"));
  CHECK(at(ring, 150) == "B");
  CHECK(at(copy, 150) == "C");
  ring = copy;
  CHECK(at(ring, 150) == "C");
}

TEST_CASE("hash ring: V and the weights travel in the snapshot") {
  HashRing ring({RingHash::kMd5, 7, ':'});
  REQUIRE(ring.add("a", 2).has_value());
  const auto snapshot = ring.snapshot();
  CHECK(snapshot->parameters().hash == RingHash::kMd5);
  CHECK(snapshot->parameters().tokens_per_weight == 7);
  CHECK(snapshot->nodes() == std::vector<HashRingSnapshot::Node>{{"a", 2}});
  CHECK(snapshot->token_count() == 14);
}

TEST_CASE("hash ring: a snapshot that is held does not change when the ring does") {
  HashRing ring = circle_of_360();
  const auto held = ring.snapshot();
  REQUIRE(ring.remove("B"));
  CHECK(held->owner_of_hash({0, 150}) == "B");
  CHECK(at(ring, 150) == "C");
}

TEST_CASE("hash ring: a reader never sees a half-built ring while another thread changes it") {
  HashRing ring({RingHash::kXxh3, 16, '#'});
  REQUIRE(ring.add("stays").has_value());
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::thread reader([&] {
    while (!done) {
      const auto snapshot = ring.snapshot();
      const bool whole = snapshot->token_count() == snapshot->nodes().size() * 16;
      const auto replicas = snapshot->replicas("key", 2);
      if (!whole || replicas.nodes.size() + replicas.shortfall != 2) ++wrong;
    }
  });
  for (int i = 0; i < 300; ++i) {
    CHECK(ring.add("comes and goes").has_value());
    CHECK(ring.remove("comes and goes"));
  }
  done = true;
  reader.join();
  CHECK(wrong == 0);
}

TEST_CASE(
    "hash ring: R replicas are R distinct nodes, even where neighbouring tokens are one node's") {
  HashRing ring;
  add_at(ring, "A", {{0, 100}, {0, 110}, {0, 120}});
  add_at(ring, "B", {{0, 200}});
  add_at(ring, "C", {{0, 300}});
  const Replicas replicas = ring.snapshot()->replicas_of_hash({0, 90}, 3);
  CHECK(replicas.nodes == std::vector<std::string_view>{"A", "B", "C"});
  CHECK(replicas.shortfall == 0);
}

TEST_CASE("hash ring: fewer nodes than R give the short list and an explicit shortfall") {
  const HashRing ring = circle_of_360();
  const Replicas replicas = ring.snapshot()->replicas_of_hash({0, 150}, 5);
  CHECK(replicas.nodes == std::vector<std::string_view>{"B", "C", "A"});
  CHECK(replicas.shortfall == 2);
  CHECK(ring.snapshot()->replicas_of_hash({0, 150}, 0).nodes.empty());
}

TEST_CASE(
    "hash ring: the replicas are distinct, as many as there can be, and begin with the owner") {
  CHECK(rc::check("replicas", [](const std::string& key) {
    HashRing ring({RingHash::kCrc32, 2, '#'});
    const int nodes = *rc::gen::inRange(1, 12);
    for (int n = 0; n < nodes; ++n)
      RC_ASSERT(ring.add("n" + std::to_string(n), n % 3 + 1).has_value());
    const auto count = *rc::gen::inRange(1u, 15u);
    const auto snapshot = ring.snapshot();
    const Replicas replicas = snapshot->replicas(key, count);
    const std::set<std::string_view> distinct(replicas.nodes.begin(), replicas.nodes.end());
    RC_ASSERT(distinct.size() == replicas.nodes.size());
    RC_ASSERT(replicas.nodes.size() == std::min<size_t>(count, static_cast<size_t>(nodes)));
    RC_ASSERT(replicas.nodes.size() + replicas.shortfall == count);
    RC_ASSERT(snapshot->owner(key) == replicas.nodes.front());
  }));
}

}  // namespace
}  // namespace torc::placement
