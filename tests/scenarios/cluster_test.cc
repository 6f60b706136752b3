// Stories of a small cluster, told fault by fault.
#include "tests/sim/cluster.h"

#include <doctest/doctest.h>

#include <string>
#include <variant>

#include "storage/record.h"

namespace torc::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What a client reads: the value, "(nothing)", or the word of the error.
std::string heard(const std::optional<node::Reply>& reply) {
  if (!reply) return "(died)";
  if (std::holds_alternative<node::PutReply>(*reply)) return "OK";
  if (const auto* got = std::get_if<node::GetReply>(&*reply)) {
    return got->found ? std::string(got->value()) : "(nothing)";
  }
  switch (std::get<node::ErrorReply>(*reply).code) {
    case node::ErrorReply::kUnavailable:
      return "UNAVAILABLE";
    case node::ErrorReply::kTimeout:
      return "TIMEOUT";
    default:
      return "ERR " + std::get<node::ErrorReply>(*reply).message;
  }
}

bool refused(const std::string& answer) {
  return answer == "UNAVAILABLE" || answer == "TIMEOUT";
}

struct Story : Cluster {
  explicit Story(size_t nodes = 3, uint64_t seed = 1, uint32_t replication = 3)
      : Cluster(ClusterOptions{.seed = seed, .nodes = nodes, .replication = replication}) {}

  std::string set(size_t i, const std::string& key, const std::string& value) {
    return heard(put(i, key, value));
  }
  std::string read(size_t i, const std::string& key) { return heard(get(i, key)); }
  void settle() {
    CHECK(run_until([this] { return settled(); }, seconds(90)));
    CHECK_MESSAGE(verdict().clean(), verdict().message());
  }
};

TEST_CASE("cluster: daemons started at once become one cluster, whatever their number") {
  for (const size_t nodes : {1, 2, 3, 5}) {
    Story story(nodes);
    story.form();
    CHECK_MESSAGE(story.verdict().clean(), story.verdict().message());
    for (size_t i = 0; i < nodes; ++i) CHECK(story.node(i).metrics().members_alive == nodes);
    CHECK(story.set(nodes - 1, "k", "v") == "OK");
    for (size_t i = 0; i < nodes; ++i) CHECK(story.read(i, "k") == "v");
  }
}

TEST_CASE(
    "cluster: a value set through one daemon is read, replaced and deleted through the others") {
  Story story;
  story.form();
  CHECK(story.read(0, "k") == "(nothing)");
  CHECK(story.set(0, "k", "one") == "OK");
  CHECK(story.read(1, "k") == "one");
  CHECK(story.set(1, "k", "two") == "OK");
  CHECK(story.read(2, "k") == "two");
  CHECK(heard(story.del(2, "k")) == "OK");
  CHECK(story.read(0, "k") == "(nothing)");
}

TEST_CASE(
    "cluster: a put tells whether something stood there, and under which version it stands now") {
  Story story;
  story.form();
  const auto first = std::get<node::PutReply>(*story.put(0, "k", "one"));
  const auto second = std::get<node::PutReply>(*story.put(1, "k", "two"));
  CHECK_FALSE(first.existed);
  CHECK(second.existed);
  CHECK(first.version < second.version);
  const auto got = std::get<node::GetReply>(*story.get(2, "k"));
  const auto record = storage::RecordView::parse(got.record);
  REQUIRE(record.has_value());
  CHECK(record->version == second.version);
}

TEST_CASE(
    "cluster: a read that finds a tombstone hands it on, so that its version can be compared") {
  Story story;
  story.form();
  const auto deleted = std::get<node::PutReply>(*story.del(0, "k"));
  const auto got = std::get<node::GetReply>(*story.get(1, "k"));
  CHECK_FALSE(got.found);
  const auto record = storage::RecordView::parse(got.record);
  REQUIRE(record.has_value());
  CHECK(record->tombstone);
  CHECK(record->version == deleted.version);
}

TEST_CASE("cluster: acknowledged writes survive when all daemons are killed at once") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Story story(3, seed);
    story.form();
    for (int k = 0; k < 10; ++k) {
      CHECK(story.set(k % 3, "k" + std::to_string(k), std::to_string(k)) == "OK");
    }
    for (size_t i = 0; i < 3; ++i) story.crash(i);
    story.run_for(seconds(1));
    story.start_all();
    story.settle();
    for (int k = 0; k < 10; ++k) {
      CHECK(story.read((k + 1) % 3, "k" + std::to_string(k)) == std::to_string(k));
    }
  }
}

TEST_CASE("cluster: the majority goes on without the daemon that was killed, and it catches up") {
  Story story;
  story.form();
  CHECK(story.set(0, "k", "before") == "OK");
  story.crash(2);
  story.run_for(seconds(20));
  CHECK(story.node(0).metrics().members_dead == 1);
  CHECK(story.set(0, "k", "without") == "OK");
  CHECK(story.read(1, "k") == "without");
  story.start(2);
  story.settle();
  CHECK(story.read(2, "k") == "without");
}

TEST_CASE("cluster: a write meets its quorum before the failure of a replica is known") {
  Story story;
  story.form();
  CHECK(story.set(0, "k", "one") == "OK");
  story.crash(1);
  const Instant begin = story.now();
  CHECK(story.set(0, "k", "two") == "OK");
  CHECK(story.now() - begin < seconds(1));
}

TEST_CASE(
    "cluster: a daemon cut off from the majority refuses, and never shows what may be stale") {
  Story story;
  story.form();
  CHECK(story.set(2, "k", "old") == "OK");
  story.isolate(2);
  CHECK(story.set(0, "k", "new") == "OK");
  for (int round = 0; round < 4; ++round) {
    CHECK(refused(story.read(2, "k")));
    CHECK(refused(story.set(2, "k", "lonely" + std::to_string(round))));
    story.run_for(seconds(5));
  }
  CHECK(story.read(2, "k") == "UNAVAILABLE");  // by now it knows who is missing
  CHECK(story.read(1, "k") == "new");
  story.heal_network();
  story.settle();
  const std::string after = story.read(2, "k");
  CHECK((after == "new" || after.starts_with("lonely")));  // a timeout's outcome is unknown
  CHECK(after != "old");
}

TEST_CASE("cluster: the later write wins, though its coordinator's clock is behind") {
  Story story;
  story.node(1).wall() = WallClock(-5000, 0);
  story.form();
  CHECK(story.set(0, "k", "first") == "OK");
  CHECK(story.set(1, "k", "second") == "OK");
  CHECK(story.read(2, "k") == "second");
}

TEST_CASE("cluster: a coordinator that slept through a newer write does not hide it") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Story story(3, seed);
    story.form();
    CHECK(story.set(0, "k", "zero") == "OK");
    std::optional<node::Reply> late;
    story.submit(2, put_request("k", "sleeper"), [&](const node::Reply* reply) { late = *reply; });
    story.run_for(Duration(static_cast<int64_t>(seed * 100)));
    story.node(2).pause();
    const auto newer = std::get<node::PutReply>(*story.put(0, "k", "newer"));
    CHECK(heard(story.get(1, "k")) == "newer");
    story.run_for(milliseconds(1500));
    story.node(2).resume();
    CHECK(story.run_until([&] { return late.has_value(); }, seconds(6)));
    story.settle();
    // It may win only as the later write, under a version above the one it slept through.
    const auto got = std::get<node::GetReply>(*story.get(1, "k"));
    const auto version = storage::RecordView::parse(got.record)->version;
    CHECK(version >= newer.version);
    CHECK((version == newer.version) == (got.value() == "newer"));
    if (const auto* won = std::get_if<node::PutReply>(&*late)) CHECK(version >= won->version);
  }
}

TEST_CASE("cluster: what is lost on the way is sent again, so that every request is served") {
  Story story;
  story.form();
  story.network().config().stream_loss = 100'000;
  for (int k = 0; k < 100; ++k) {
    const std::string key = "k" + std::to_string(k);
    CHECK(story.set(k % 3, key, "v") == "OK");
    CHECK(story.read((k + 1) % 3, key) == "v");
  }
}

TEST_CASE("cluster: a deleted key stays deleted when the daemon that missed the deletion returns") {
  Story story;
  story.form();
  CHECK(story.set(0, "k", "v") == "OK");
  story.crash(2);
  CHECK(heard(story.del(0, "k")) == "OK");
  story.start(2);
  story.settle();
  for (size_t i = 0; i < 3; ++i) CHECK(story.read(i, "k") == "(nothing)");
}

TEST_CASE("cluster: a founder killed while the others join still ends with one cluster") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Story story(3, seed);
    story.start_all();
    CHECK(story.run_until([&] { return story.newest_epoch() >= 1; }, seconds(30)));
    story.run_for(milliseconds(static_cast<int64_t>(seed * 17 % 400)));
    story.crash(0);
    story.run_for(seconds(1));
    story.start(0);
    story.settle();
  }
}

TEST_CASE("cluster: a joiner killed at any moment of its joining is a member once it runs again") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Story story(3, seed);
    story.start(0);
    story.run_for(seconds(1));
    story.start(1);
    story.start(2);
    story.run_for(Duration(static_cast<int64_t>(seed * 20'000)));
    story.crash(1);
    story.run_for(milliseconds(100));
    story.start(1);
    story.settle();
  }
}

TEST_CASE("cluster: newcomers that ask again while their epoch is being stored join once") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    Story story(3, seed);
    story.start(0);
    story.run_for(seconds(1));
    story.node(0).disk().config().slowdown = 1000;
    story.start(1);
    story.start(2);
    story.settle();
  }
}

TEST_CASE(
    "cluster: writes do not begin while a daemon may answer for keys that moved with a join") {
  Story story(3, 1, 1);
  story.start(0);
  story.start(1);
  CHECK(story.run_until([&] { return story.newest_epoch() == 2; }, seconds(10)));
  story.run_for(seconds(1));
  story.isolate(1);
  story.start(2);
  CHECK(story.run_until([&] { return story.everybody_joined(); }, seconds(10)));
  CHECK(refused(story.set(0, "k", "too early")));
  story.heal_network();
  story.settle();
  CHECK(story.set(0, "k", "v") == "OK");
  for (size_t i = 0; i < 3; ++i) CHECK(story.read(i, "k") == "v");
}

TEST_CASE("cluster: a daemon stopped in good order is known to have left, and returns alive") {
  Story story;
  story.form();
  story.node(1).stop();
  CHECK(story.run_until([&] { return story.node(0).metrics().members_dead == 1; }, seconds(3)));
  story.start(1);
  story.settle();
}

TEST_CASE("cluster: a daemon that is not a member yet says so at once") {
  Story story;
  story.start(1);  // nobody there to join
  story.run_for(seconds(1));
  const Instant begin = story.now();
  CHECK(story.read(1, "k") == "UNAVAILABLE");
  CHECK(story.set(1, "k", "v") == "UNAVAILABLE");
  CHECK(story.now() - begin < milliseconds(100));
}

}  // namespace
}  // namespace torc::sim
