#include "daemon/node/node.h"

#include <doctest/doctest.h>
#include <google/protobuf/stubs/logging.h>

#include <nlohmann/json.hpp>

#include "daemon/node/twin.h"
#include "tests/daemon/node_harness.h"

namespace torc::node {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PutRequest put(std::string key, std::string value) {
  PutRequest request;
  request.key = std::move(key);
  request.value = std::move(value);
  return request;
}

GetRequest get(std::string key) {
  GetRequest request;
  request.key = std::move(key);
  return request;
}

// n1 founds a cluster and the others join.
struct Cluster : NodeHarness {
  explicit Cluster(uint32_t size) {
    daemon(1).start(true, {});
    run(seconds(1));
    for (uint32_t i = 2; i <= size; ++i) daemon(i).start(false, {peer_of(1)});
    run(seconds(3));
  }
  nlohmann::json status(uint32_t number) {
    return nlohmann::json::parse(std::get<TextReply>(ask(number, StatusRequest{})).text);
  }
};

bool holds(const Reply& reply, std::string_view value) {
  const auto* got = std::get_if<GetReply>(&reply);
  return got != nullptr && got->found && got->value() == value;
}

const ErrorReply* error(const Reply& reply) {
  return std::get_if<ErrorReply>(&reply);
}

TEST_CASE("node: three daemons become one settled cluster; what one writes another reads") {
  Cluster cluster(3);
  const nlohmann::json status = cluster.status(2);
  CHECK(status["settled"] == true);
  CHECK(status["members"].size() == 3);
  CHECK(status["me"] == "n2");
  for (const auto& member : status["members"]) CHECK(member["liveness"] == "alive");

  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  CHECK(holds(cluster.ask(3, get("k")), "v"));
  CHECK(std::get<IntegerReply>(cluster.ask(2, SizeRequest{})).value == 1);

  const auto owners = std::get<OwnersReply>(cluster.ask(3, OwnersRequest{"k"}));
  REQUIRE(owners.owners.size() == 3);
  CHECK(owners.owners[0].liveness == "alive");

  // The first write opened the cluster, on all of them.
  CHECK(cluster.status(3)["epoch"].get<int>() > status["epoch"].get<int>());
  CHECK(cluster.status(3)["settled"] == true);
  CHECK(cluster.daemon(3).node->metrics().ready);
  CHECK(cluster.daemon(3).node->metrics().members_alive == 3);
}

TEST_CASE("node: a write that comes first at a member opens the cluster through the founder") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(3, put("k", "v"))));
  CHECK(holds(cluster.ask(2, get("k")), "v"));
}

TEST_CASE(
    "node: one that joins through a member that is not the founder is let in by the founder") {
  Cluster cluster(2);
  cluster.daemon(3).start(false, {peer_of(2)});
  cluster.run(seconds(3));
  CHECK(cluster.status(3)["members"].size() == 3);
  CHECK(cluster.status(3)["settled"] == true);
}

TEST_CASE("node: daemons that start before their founder wait for it") {
  NodeHarness harness;
  harness.daemon(2).start(false, {peer_of(1), peer_of(3)});
  harness.daemon(3).start(false, {peer_of(1), peer_of(2)});
  harness.run(seconds(2));
  const Reply refused = harness.ask(2, get("k"));
  REQUIRE(error(refused) != nullptr);
  CHECK(error(refused)->code == ErrorReply::kUnavailable);
  CHECK(error(refused)->message.find("not yet a member") != std::string::npos);
  CHECK(std::holds_alternative<TextReply>(harness.ask(2, InfoRequest{})));
  CHECK(!harness.daemon(2).node->metrics().ready);

  harness.daemon(1).start(true, {});
  harness.run(seconds(3));
  CHECK(std::holds_alternative<PutReply>(harness.ask(2, put("k", "v"))));
  CHECK(holds(harness.ask(3, get("k")), "v"));
}

TEST_CASE("node: once the cluster has accepted a write, a newcomer is refused in words") {
  Cluster cluster(2);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  cluster.daemon(3).start(false, {peer_of(2)});
  cluster.run(seconds(3));
  REQUIRE(cluster.daemon(3).stopped);
  CHECK(cluster.daemon(3).stopped->first == ExitCode::kRefused);
  CHECK(cluster.daemon(3).stopped->second.find("accepted writes") != std::string::npos);
  CHECK(cluster.daemon(1).running());
}

TEST_CASE("node: a killed daemon comes back as itself, without flags, and nothing is lost") {
  Cluster cluster(3);
  for (int i = 0; i < 20; ++i) {
    CHECK(std::holds_alternative<PutReply>(
        cluster.ask(1 + static_cast<uint32_t>(i % 3), put("k" + std::to_string(i), "v"))));
  }
  const auto id = cluster.status(2)["members"][0]["id"];
  cluster.daemon(2).kill();
  for (int i = 20; i < 40; ++i) {
    CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k" + std::to_string(i), "v"))));
  }
  cluster.run(seconds(20));
  CHECK(cluster.status(1)["settled"] == false);
  CHECK(cluster.daemon(1).node->metrics().members_dead == 1);

  cluster.daemon(2).start(false, {});
  cluster.run(seconds(20));
  CHECK(cluster.status(1)["settled"] == true);
  CHECK(cluster.status(2)["members"][0]["id"] == id);
  CHECK(cluster.status(2)["epoch"] == cluster.status(1)["epoch"]);
  for (int i = 0; i < 40; ++i) CHECK(holds(cluster.ask(2, get("k" + std::to_string(i))), "v"));
}

TEST_CASE("node: of two processes with one identity the second stops, and the first serves on") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  cluster.run(seconds(20));
  cluster.daemon(4).copy_disk_of(cluster.daemon(2));
  SUBCASE("the copy was made just now") {}
  SUBCASE("the original has been started again since") {
    for (int i = 0; i < 3; ++i) {
      cluster.daemon(2).kill();
      cluster.daemon(2).start(false, {});
      cluster.run(seconds(20));
    }
  }
  cluster.daemon(4).start(false, {});
  cluster.run(seconds(5));
  REQUIRE(cluster.daemon(4).stopped);
  CHECK(cluster.daemon(4).stopped->first == ExitCode::kRefused);
  CHECK(cluster.daemon(4).stopped->second.find("identity") != std::string::npos);
  CHECK(cluster.daemon(2).running());
  CHECK(holds(cluster.ask(2, get("k")), "v"));
  cluster.run(seconds(40));
  CHECK(cluster.status(1)["settled"] == true);
}

TEST_CASE("node: killed all at once, the whole cluster comes back with its data") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(2, put("k", "v"))));
  for (uint32_t i = 1; i <= 3; ++i) cluster.daemon(i).kill();
  for (uint32_t i = 1; i <= 3; ++i) cluster.daemon(i).start(false, {});
  cluster.run(seconds(20));
  CHECK(cluster.status(3)["settled"] == true);
  CHECK(holds(cluster.ask(3, get("k")), "v"));
  CHECK(std::holds_alternative<PutReply>(cluster.ask(3, put("k", "w"))));
  CHECK(holds(cluster.ask(1, get("k")), "w"));
}

TEST_CASE("node: one message from the end of time does not end the cluster's own time") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  pb::Envelope absurd;
  absurd.set_from(12345);
  absurd.set_sender(peer_of(9).to_bytes());
  absurd.set_hlc(~uint64_t{0});
  absurd.mutable_topology_pull()->set_known_epoch(1);
  cluster.daemon(1).node->on_peer_message(absurd, cluster.now());
  cluster.run(seconds(3));
  CHECK(cluster.daemon(1).node->metrics().absurd_clocks == 1);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "w"))));
  CHECK(std::holds_alternative<PutReply>(cluster.ask(2, put("l", "w"))));
}

TEST_CASE("node: a daemon that has just come back finds the others before it refuses anybody") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  cluster.daemon(2).kill();
  cluster.run(seconds(1));
  cluster.daemon(2).start(false, {});
  // Its identity and topology are read; nobody has spoken to it yet.
  Node& node = *cluster.daemon(2).node;
  while (node.metrics().epoch == 0) cluster.step();
  CHECK(node.metrics().members_alive == 1);
  CHECK(holds(cluster.ask(2, get("k")), "v"));
}

TEST_CASE("node: a daemon that comes back alone refuses, soon") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  for (uint32_t i = 1; i <= 3; ++i) cluster.daemon(i).kill();
  cluster.daemon(2).start(false, {});
  cluster.run(milliseconds(1));
  const auto reply = cluster.ask(2, get("k"), seconds(3));
  REQUIRE(error(reply) != nullptr);
  CHECK(error(reply)->code == ErrorReply::kUnavailable);
}

TEST_CASE("node: with the founder gone reads and writes go on") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(2, put("k", "v"))));
  cluster.daemon(1).kill();
  cluster.run(seconds(20));
  CHECK(std::holds_alternative<PutReply>(cluster.ask(2, put("k", "w"))));
  CHECK(holds(cluster.ask(3, get("k")), "w"));
}

TEST_CASE("node: an empty directory needs exactly one of bootstrap and join") {
  NodeHarness harness;
  harness.daemon(1).start(false, {});
  harness.daemon(2).start(true, {peer_of(1)});
  harness.run(seconds(1));
  for (uint32_t i = 1; i <= 2; ++i) {
    REQUIRE(harness.daemon(i).stopped);
    CHECK(harness.daemon(i).stopped->first == ExitCode::kRefused);
  }
}

TEST_CASE("node: more requests at once than it may run are refused, not queued") {
  NodeHarness harness;
  auto& n1 = harness.daemon(1);
  n1.operations_max = 2;
  n1.start(true, {});
  harness.run(seconds(1));
  for (RequestId id = 1; id <= 5; ++id) n1.node->on_command(id, get("k"), harness.now());
  size_t refused = 0;
  for (const auto& [id, reply] : n1.answers) refused += error(reply) != nullptr;
  CHECK(refused == 3);
  harness.run(seconds(1));
  CHECK(n1.answers.size() == 5);
}

TEST_CASE("node: a good-bye is known to the others before they would have noticed") {
  Cluster cluster(3);
  cluster.daemon(3).node->shutdown(cluster.now());
  cluster.daemon(3).kill();
  cluster.run(seconds(1));
  const nlohmann::json status = cluster.status(1);
  REQUIRE(status["members"].size() == 3);
  for (const auto& member : status["members"]) {
    CHECK(member["liveness"] == (member["name"] == "n3" ? "left" : "alive"));
  }
}

TEST_CASE("node: messages with any contents leave a daemon serving") {
  Cluster cluster(3);
  CHECK(std::holds_alternative<PutReply>(cluster.ask(1, put("k", "v"))));
  CHECK(holds(cluster.ask(3, get("k")), "v"));
  cluster.status(2);
  // One that has just begun would stop at any word of a twin.
  cluster.run(Twin::kYoung);
  const auto originals = cluster.delivered();
  REQUIRE(originals.size() > 50);
  const google::protobuf::LogSilencer quiet;
  FakeEnv random;
  size_t parsed = 0;
  for (int i = 0; i < 20'000; ++i) {
    // Bytes of real messages, damaged behind the checksum as only a faulty daemon could.
    std::string bytes = originals[random.random() % originals.size()];
    for (uint64_t flips = 1 + random.random() % 3; flips > 0; --flips) {
      bytes[random.random() % bytes.size()] = static_cast<char>(random.random() & 0x7f);
    }
    pb::Envelope message;
    if (!message.ParseFromString(bytes)) continue;
    // The clock is trusted within a cluster; a damaged one is another test's subject.
    message.set_hlc(0);
    ++parsed;
    cluster.daemon(1).node->on_peer_message(message, cluster.now());
    if (i % 100 == 0) cluster.run(milliseconds(1));
  }
  CHECK(parsed > 1000);
  CHECK(cluster.daemon(1).running());
  cluster.run(seconds(1));
  CHECK(std::holds_alternative<TextReply>(cluster.ask(1, InfoRequest{})));
}

}  // namespace
}  // namespace torc::node
