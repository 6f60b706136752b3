// What engine.h promises, held against both engines.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

#include "storage/memory_engine.h"
#include "storage/rocks_engine.h"
#include "tests/storage/temp_dir.h"

namespace torc::storage {
namespace {

struct Memory {
  MemoryEngine engine;
  Engine& operator*() { return engine; }
};

struct Rocks {
  TempDir dir;
  std::unique_ptr<RocksEngine> engine = RocksEngine::open(dir.data()).value();
  Engine& operator*() { return *engine; }
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs scan(Engine& engine, std::string_view begin, std::string_view end) {
  Pairs found;
  const Status status = engine.scan(begin, end, [&](std::string_view key, std::string_view value) {
    found.emplace_back(key, value);
    return true;
  });
  CHECK(status.ok());
  return found;
}

std::optional<std::string> get(Engine& engine, const std::string& key) {
  const auto results = engine.multi_get(std::span(&key, 1));
  REQUIRE(results.size() == 1);
  REQUIRE(results[0]);
  return *results[0];
}

void put(Engine& engine, const std::string& key, const std::string& value) {
  const Mutation mutation{key, value};
  REQUIRE(engine.write(std::span(&mutation, 1), false).ok());
}

TEST_CASE_TEMPLATE("engine: multi_get answers key by key, in order", T, Memory, Rocks) {
  T subject;
  put(*subject, "a", "1");
  put(*subject, "empty", "");
  put(*subject, "big", std::string(100000, 'x'));
  const std::vector<std::string> keys{"none", "a", "empty", "big", "a"};
  const auto results = (*subject).multi_get(keys);
  REQUIRE(results.size() == 5);
  CHECK(results[0].value() == std::nullopt);
  CHECK(results[1].value() == "1");
  CHECK(results[2].value() == "");
  CHECK(results[3].value() == std::string(100000, 'x'));
  CHECK(results[4].value() == "1");
  CHECK((*subject).multi_get({}).empty());
}

TEST_CASE_TEMPLATE("engine: the mutations of a batch apply in order", T, Memory, Rocks) {
  T subject;
  put(*subject, "gone", "1");
  const std::vector<Mutation> batch{
      {"gone", std::nullopt}, {"back", "1"}, {"back", std::nullopt}, {"back", "2"}, {"no", {}}};
  CHECK((*subject).write(batch, true).ok());
  CHECK(get(*subject, "gone") == std::nullopt);
  CHECK(get(*subject, "back") == "2");
  CHECK(get(*subject, "no") == std::nullopt);
  CHECK((*subject).write({}, true).ok());
}

TEST_CASE_TEMPLATE("engine: keys and values may hold any bytes", T, Memory, Rocks) {
  T subject;
  const std::string odd("\x00\xff\n\x00", 4);
  put(*subject, odd, odd);
  put(*subject, "", "the empty key");
  CHECK(get(*subject, odd) == odd);
  CHECK(get(*subject, "") == "the empty key");
}

TEST_CASE_TEMPLATE("engine: a scan visits a range in byte order until told to stop", T, Memory,
                   Rocks) {
  T subject;
  for (const char* key : {"b", "\xff", "a", "c"}) put(*subject, key, key);
  CHECK(scan(*subject, "a", "c") == Pairs{{"a", "a"}, {"b", "b"}});
  CHECK(scan(*subject, "aa", "") == Pairs{{"b", "b"}, {"c", "c"}, {"\xff", "\xff"}});
  CHECK(scan(*subject, "d", "e").empty());
  size_t visits = 0;
  CHECK((*subject)
            .scan("", "", [&](std::string_view, std::string_view) { return ++visits < 2; })
            .ok());
  CHECK(visits == 2);
}

TEST_CASE_TEMPLATE("engine: delete_range deletes the range and nothing beside it", T, Memory,
                   Rocks) {
  T subject;
  for (const char* key : {"a", "b", "bb", "c"}) put(*subject, key, key);
  CHECK((*subject).delete_range("b", "c", true).ok());
  CHECK(scan(*subject, "", "") == Pairs{{"a", "a"}, {"c", "c"}});
  CHECK((*subject).delete_range("c", "a", true).ok());
  CHECK(scan(*subject, "", "") == Pairs{{"a", "a"}, {"c", "c"}});
  CHECK((*subject).sync().ok());
}

TEST_CASE_TEMPLATE("engine: behaves like an ordered map", T, Memory, Rocks) {
  T subject;
  CHECK(rc::check("against a map", [&] {
    REQUIRE((*subject).delete_range("", "~", false).ok());
    std::map<std::string, std::string> model;
    const auto any_key = [] { return std::string(1, *rc::gen::inRange('a', 'h')); };
    for (int steps = *rc::gen::inRange(1, 12); steps > 0; --steps) {
      if (*rc::gen::inRange(0, 5) == 0) {
        const std::string begin = any_key();
        const std::string end = any_key();
        RC_ASSERT((*subject).delete_range(begin, end, false).ok());
        if (begin < end) model.erase(model.lower_bound(begin), model.lower_bound(end));
        continue;
      }
      std::vector<Mutation> batch;
      for (int size = *rc::gen::inRange(1, 6); size > 0; --size) {
        Mutation mutation{any_key(), std::nullopt};
        model.erase(mutation.key);
        if (*rc::gen::inRange(0, 3) != 0) {
          mutation.value = std::to_string(*rc::gen::inRange(0, 100));
          model[mutation.key] = *mutation.value;
        }
        batch.push_back(std::move(mutation));
      }
      RC_ASSERT((*subject).write(batch, false).ok());
    }
    RC_ASSERT(scan(*subject, "", "") == Pairs(model.begin(), model.end()));
  }));
}

}  // namespace
}  // namespace torc::storage
