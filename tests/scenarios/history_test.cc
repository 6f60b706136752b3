// The checker on histories written by hand: it must let pass what is promised, and see what is not.
#include "tests/sim/history.h"

#include <doctest/doctest.h>

namespace torc::sim {
namespace {

using storage::Version;

constexpr NodeId kA{0xa};
constexpr NodeId kB{0xb};

Version at(uint64_t time, NodeId node = kA) {
  return {time, node};
}

TEST_CASE("history: a read that returns the newest acknowledged write is right") {
  History history;
  const auto put = history.begin_put("k", "v1");
  history.acknowledge(put, at(10));
  const auto get = history.begin_get("k");
  history.found(get, at(10), "v1");
  CHECK(history.ok());
  CHECK(history.newest("k") == at(10));
  CHECK(history.keys() == std::vector<std::string>{"k"});
}

TEST_CASE("history: a read that misses a write acknowledged before it began is wrong") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(10));
  history.acknowledge(history.begin_put("k", "v2"), at(20));
  const auto get = history.begin_get("k");
  SUBCASE("an older value") {
    history.found(get, at(10), "v1");
  }
  SUBCASE("nothing at all") {
    history.absent(get, Version{});
  }
  SUBCASE("an older tombstone") {
    history.absent(get, at(15));
  }
  CHECK_FALSE(history.ok());
  CHECK(history.violation().find("get #2 of 'k'") != std::string::npos);
}

TEST_CASE("history: a read that overlaps a write may miss it") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(10));
  const auto put = history.begin_put("k", "v2");
  const auto get = history.begin_get("k");
  history.acknowledge(put, at(20));
  history.found(get, at(10), "v1");
  CHECK(history.ok());
}

TEST_CASE(
    "history: a read may find a write of unknown outcome, but then nobody may lose it again") {
  History history;
  history.begin_put("k", "v1");
  history.found(history.begin_get("k"), at(10), "v1");
  CHECK(history.ok());
  history.absent(history.begin_get("k"), Version{});
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: of two reads that overlap, either may see the older version") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(10));
  history.begin_put("k", "v2");
  const auto early = history.begin_get("k");
  const auto late = history.begin_get("k");
  history.found(late, at(20), "v2");
  history.found(early, at(10), "v1");
  CHECK(history.ok());
}

TEST_CASE(
    "history: a write acknowledged after another must be newer than it, whatever the clocks say") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(20));
  history.acknowledge(history.begin_put("k", "v2"), at(10, kB));
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: a write cannot be acknowledged under a version that was there before it") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(20));
  history.acknowledge(history.begin_put("k", "v2"), at(20));
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: writes that overlap may be acknowledged in any order of versions") {
  History history;
  const auto first = history.begin_put("k", "v1");
  const auto second = history.begin_put("k", "v2");
  history.acknowledge(first, at(20));
  history.acknowledge(second, at(10, kB));
  CHECK(history.ok());
  CHECK(history.newest("k") == at(20));
}

TEST_CASE("history: a deletion is a version like any other") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(10));
  history.acknowledge(history.begin_delete("k"), at(20));
  SUBCASE("the tombstone is seen") {
    history.absent(history.begin_get("k"), at(20));
    CHECK(history.ok());
  }
  SUBCASE("the deleted value comes back") {
    history.found(history.begin_get("k"), at(10), "v1");
    CHECK_FALSE(history.ok());
  }
}

TEST_CASE("history: a value must have been put, and under this key") {
  History history;
  history.acknowledge(history.begin_put("k", "v1"), at(10));
  SUBCASE("a value from nowhere") {
    history.found(history.begin_get("k"), at(11), "v9");
  }
  SUBCASE("another key's value") {
    history.found(history.begin_get("other"), at(11), "v1");
  }
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: one version is one value for ever") {
  History history;
  history.begin_put("k", "v1");
  history.begin_put("k", "v2");
  history.found(history.begin_get("k"), at(10), "v1");
  SUBCASE("not another value") {
    history.found(history.begin_get("k"), at(10), "v2");
  }
  SUBCASE("not a tombstone") {
    history.absent(history.begin_get("k"), at(10));
  }
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: a retried write may be seen under its old version, then under its new one") {
  History history;
  const auto put = history.begin_put("k", "v1");
  history.found(history.begin_get("k"), at(10), "v1");
  history.acknowledge(put, at(30));
  history.found(history.begin_get("k"), at(30), "v1");
  CHECK(history.ok());
}

TEST_CASE("history: what was refused in words never shows") {
  History history;
  const auto put = history.begin_put("k", "v1");
  SUBCASE("refused, then read") {
    history.refuse(put);
    CHECK(history.ok());
    history.found(history.begin_get("k"), at(10), "v1");
  }
  SUBCASE("read, then refused") {
    history.found(history.begin_get("k"), at(10), "v1");
    CHECK(history.ok());
    history.refuse(put);
  }
  CHECK_FALSE(history.ok());
}

TEST_CASE("history: keys do not mix") {
  History history;
  history.acknowledge(history.begin_put("a", "v1"), at(20));
  history.acknowledge(history.begin_put("b", "v2"), at(10));
  history.found(history.begin_get("b"), at(10), "v2");
  history.absent(history.begin_get("c"), Version{});
  CHECK(history.ok());
}

TEST_CASE("history: only the first violation is told") {
  History history;
  history.found(history.begin_get("k"), at(1), "nobody put this");
  const std::string first = history.violation();
  history.found(history.begin_get("k"), at(2), "nor this");
  CHECK(history.violation() == first);
}

}  // namespace
}  // namespace torc::sim
