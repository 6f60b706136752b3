#include "storage/memory_engine.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace torc::storage {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs contents(MemoryEngine& engine) {
  Pairs found;
  CHECK(engine
            .scan("", "",
                  [&](std::string_view key, std::string_view value) {
                    found.emplace_back(key, value);
                    return true;
                  })
            .ok());
  return found;
}

void write(MemoryEngine& engine, std::vector<Mutation> batch, bool sync) {
  REQUIRE(engine.write(batch, sync).ok());
}

TEST_CASE("memory engine: a crash drops what was not synced") {
  MemoryEngine engine;
  write(engine, {{"kept", "1"}, {"changed", "1"}, {"deleted", "1"}}, true);
  write(engine, {{"changed", "2"}, {"deleted", std::nullopt}, {"new", "2"}}, false);
  REQUIRE(engine.delete_range("k", "l", false).ok());
  CHECK(engine.unsynced_batches() == 2);
  engine.crash();
  CHECK(contents(engine) == Pairs{{"changed", "1"}, {"deleted", "1"}, {"kept", "1"}});
  CHECK(engine.unsynced_batches() == 0);
}

TEST_CASE("memory engine: a synced write and sync() make everything before them durable") {
  MemoryEngine engine;
  write(engine, {{"a", "1"}}, false);
  write(engine, {{"b", "1"}}, true);
  engine.crash();
  CHECK(contents(engine) == Pairs{{"a", "1"}, {"b", "1"}});
  write(engine, {{"c", "1"}}, false);
  REQUIRE(engine.sync().ok());
  engine.crash();
  CHECK(contents(engine) == Pairs{{"a", "1"}, {"b", "1"}, {"c", "1"}});
}

TEST_CASE("memory engine: a crash may keep any number of whole batches, the earliest first") {
  CHECK(rc::check("prefix", [] {
    MemoryEngine engine;
    std::vector<Pairs> states;
    const int synced = *rc::gen::inRange(0, 4);
    const int batches = synced + *rc::gen::inRange(0, 6);
    for (int i = 0; i < batches; ++i) {
      if (i >= synced) states.push_back(contents(engine));
      std::vector<Mutation> batch;
      for (int size = *rc::gen::inRange(1, 5); size > 0; --size) {
        batch.push_back({std::string(1, *rc::gen::inRange('a', 'e')), std::nullopt});
        if (*rc::gen::inRange(0, 3) != 0) batch.back().value = std::to_string(i);
      }
      write(engine, batch, i < synced);
    }
    states.push_back(contents(engine));
    RC_ASSERT(engine.unsynced_batches() == states.size() - 1);
    const auto kept = *rc::gen::inRange<size_t>(0, states.size());
    engine.crash(kept);
    RC_ASSERT(contents(engine) == states[kept]);
    engine.crash();  // what survived one crash survives the next
    RC_ASSERT(contents(engine) == states[kept]);
  }));
}

}  // namespace
}  // namespace torc::storage
