// Groupcache, serialx/hashring, Redis Cluster and Cassandra: what a client of each would find.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <limits>
#include <map>

#include "placement/compat/cassandra.h"
#include "placement/compat/groupcache.h"
#include "placement/compat/redis_slots.h"
#include "placement/compat/serialx.h"

namespace torc::placement::compat {
namespace {

using Names = std::vector<std::string>;

Groupcache numbers_as_hashes() {
  return Groupcache(3, [](std::string_view text) {
    return static_cast<uint32_t>(std::stoul(std::string(text)));
  });
}

TEST_CASE("groupcache: identity hash, nodes 6 4 2, three replicas: 2->2, 11->2, 23->4, 27->2") {
  Groupcache ring = numbers_as_hashes();
  ring.add(Names{"6", "4", "2"});  // points 2, 4, 6, 12, 14, 16, 22, 24, 26
  CHECK(ring.get("2") == "2");
  CHECK(ring.get("11") == "2");
  CHECK(ring.get("23") == "4");
  CHECK(ring.get("27") == "2");
  ring.add(Names{"8"});  // 8, 18, 28
  CHECK(ring.get("27") == "8");
  CHECK(ring.get("23") == "4");
}

TEST_CASE("groupcache: CRC32-IEEE of decimal(i) + name, 50 replicas by default") {
  Groupcache ring;
  ring.add(Names{"http://10.0.0.1:8080", "http://10.0.0.2:8080", "http://10.0.0.3:8080"});
  std::string owners;
  for (int i = 0; i < 20; ++i) {
    owners += ring.get("key" + std::to_string(i)).value_or("none").substr(14, 1);
  }
  CHECK(owners == "22332233131232122111");
}

TEST_CASE("groupcache: the order of addition does not matter but for collisions") {
  Groupcache one(1);
  Groupcache two(1);
  one.add(Names{"Bill", "Bob", "Bonny"});
  two.add(Names{"Bob", "Bonny", "Bill"});
  CHECK(rc::check("same owner",
                  [&](const std::string& key) { return one.get(key) == two.get(key); }));
}

TEST_CASE("groupcache: of two names with one point the one added later has it") {
  Groupcache ring(2, [](std::string_view text) { return text.front() == '0' ? 10u : 20u; });
  ring.add(Names{"a", "b"});
  CHECK(ring.get("0") == "b");
  ring.add(Names{"A"});
  CHECK(ring.get("0") == "A");
  CHECK(ring.get("1") == "A");
}

TEST_CASE("groupcache: an empty ring has no owner") {
  Groupcache ring;
  CHECK(ring.is_empty());
  CHECK_FALSE(ring.get("key").has_value());
  ring.add({});
  CHECK_FALSE(ring.get("key").has_value());
}

Names two_nodes(const Serialx& ring, std::string_view key) {
  const auto answer = ring.get_nodes(key, 2);
  CHECK(answer.ok);
  return answer.nodes;
}

TEST_CASE("serialx: nodes a b c: test -> a,c; test1 -> b,a; test4 -> a,c; aaaa -> c,b") {
  const Serialx ring(Names{"a", "b", "c"});
  CHECK(two_nodes(ring, "test") == Names{"a", "c"});
  CHECK(two_nodes(ring, "test1") == Names{"b", "a"});
  CHECK(two_nodes(ring, "test2") == Names{"b", "a"});
  CHECK(two_nodes(ring, "test3") == Names{"c", "b"});
  CHECK(two_nodes(ring, "test4") == Names{"a", "c"});
  CHECK(two_nodes(ring, "test5") == Names{"c", "b"});
  CHECK(two_nodes(ring, "aaaa") == Names{"c", "b"});
  CHECK(two_nodes(ring, "bbbb") == Names{"a", "c"});
  CHECK(ring.get_node("test") == "a");
}

TEST_CASE("serialx: a node has as many points as its weight") {
  const Serialx ring(Serialx::Weights{{"a", 1}, {"b", 2}, {"c", 1}});
  CHECK(two_nodes(ring, "test") == Names{"b", "a"});
  CHECK(two_nodes(ring, "test3") == Names{"c", "b"});
  CHECK(two_nodes(ring, "test4") == Names{"b", "a"});
  CHECK(two_nodes(ring, "bbbb") == Names{"b", "a"});
}

TEST_CASE("serialx: a point is strictly after the key, so a key that is a point goes to the next") {
  const Serialx ring(Serialx::Weights{{"a", 1}, {"b", 1}});
  CHECK(ring.get_node("a-0") == "b");
  CHECK(ring.get_node("b-0") == "a");
}

TEST_CASE("serialx: adding, reweighting and removing give another ring and leave this one") {
  const Serialx two(Names{"a", "c"});
  const Serialx three = two.add_node("b");
  CHECK(two.size() == 2);
  CHECK(two_nodes(three, "test1") == Names{"b", "a"});
  CHECK(three.weights() == Serialx::Weights{{"a", 1}, {"b", 1}, {"c", 1}});
  const Serialx heavy = three.update_weighted_node("b", 2);
  CHECK(two_nodes(heavy, "test") == Names{"b", "a"});
  const Serialx five = three.add_node("d").add_node("e");
  CHECK(two_nodes(five, "test") == Names{"d", "a"});
  CHECK(two_nodes(five, "test2") == Names{"e", "b"});
  const Serialx back = five.remove_node("e").remove_node("d");
  CHECK(two_nodes(back, "test2") == Names{"b", "a"});
  CHECK(back.size() == 3);
}

TEST_CASE("serialx: a change that says nothing new gives the same ring") {
  const Serialx ring(Serialx::Weights{{"a", 1}, {"b", 2}});
  const auto unchanged = [&](const Serialx& other) { return other.weights() == ring.weights(); };
  CHECK(unchanged(ring.add_node("b")));
  CHECK(unchanged(ring.add_weighted_node("c", 0)));
  CHECK(unchanged(ring.add_weighted_node("c", -1)));
  CHECK(unchanged(ring.update_weighted_node("b", 0)));
  CHECK(unchanged(ring.update_weighted_node("c", 5)));
  CHECK(unchanged(ring.remove_node("c")));
  CHECK(ring.update_with_weights({{"z", 1}}).get_node("key") == "z");
}

TEST_CASE("serialx: more nodes than there are is refused whole; an empty ring has none") {
  const Serialx ring(Names{"a", "b", "c"});
  CHECK_FALSE(ring.get_nodes("test", 5).ok);
  CHECK(ring.get_nodes("test", 5).nodes.empty());
  CHECK(ring.get_nodes("test", 3).nodes == Names{"a", "c", "b"});
  const Serialx empty{Names{}};
  CHECK_FALSE(empty.get_node("test").has_value());
  CHECK_FALSE(empty.get_nodes("test", 0).ok);
}

TEST_CASE("serialx: a node listed twice counts twice but is returned once") {
  const Serialx ring(Names{"a", "a", "b"});
  CHECK(ring.size() == 3);
  const auto answer = ring.get_nodes("test", 3);
  CHECK_FALSE(answer.ok);
  CHECK(answer.nodes.size() == 2);
  CHECK(ring.remove_node("a").size() == 1);
}

TEST_CASE("redis: slot = CRC16-XMODEM mod 16384: 123456789 = 0x31C3, somekey = 11058") {
  CHECK(crc16_xmodem("123456789") == 0x31c3);
  CHECK(redis_slot("123456789") == 0x31c3);
  CHECK(redis_slot("somekey") == 11058);
  CHECK(redis_slot("foo") == 12182);
  CHECK(redis_slot("") == 0);
}

TEST_CASE("redis: keys with one hash tag share its slot") {
  CHECK(redis_slot("foo{hash_tag}") == 2515);
  CHECK(redis_slot("bar{hash_tag}") == 2515);
  CHECK(redis_slot("{user1000}.following") == redis_slot("user1000"));
}

TEST_CASE("redis: the tag lies between the first { and the first } after it") {
  CHECK(redis_hash_tag("foo{{bar}}zap") == "{bar");
  CHECK(redis_hash_tag("foo{bar}{zap}") == "bar");
  CHECK(redis_hash_tag("}{a}") == "a");
}

TEST_CASE("redis: without a whole, non-empty tag the whole key counts") {
  for (const char* key : {"foo{}{bar}", "{}", "foo{bar", "foo}bar{", "foo", "", "{", "}{"}) {
    CHECK(redis_hash_tag(key) == key);
  }
}

TEST_CASE("cassandra: Book Store = -1595003126634288162") {
  CHECK(cassandra_token("Book Store") == -1595003126634288162);
  CHECK(cassandra_token("123") == -7468325962851647638);
}

TEST_CASE("cassandra: the bytes after the last block of 16 count as signed") {
  CHECK(cassandra_token(std::string(8, '\xfe')) == -8927430733708461935);
  CHECK(cassandra_token(std::string(8, '\x10')) == 1446172840243228796);
  std::string mixed;
  for (int i = 0; i < 10; ++i) mixed += std::string("\x00\xff\x10\xfa\x99", 5);
  CHECK(cassandra_token(mixed) == 5837342703291459765);
}

TEST_CASE("cassandra: only the empty key has the lowest token") {
  constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
  CHECK(cassandra_token("") == kLowest);
  CHECK(rc::check("never the lowest", [](const std::string& key) {
    return key.empty() || cassandra_token(key) != kLowest;
  }));
}

}  // namespace
}  // namespace torc::placement::compat
