#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "daemon/node/gossip_link.h"
#include "daemon/node/status_desk.h"
#include "daemon/node/status_json.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

using nlohmann::json;

// n1 of three; n2 and n3 are alive unless the test says otherwise.
struct StatusBench : Bench {
  StatusBench() : Bench(1) {
    context.view = joined(*founded(), {2, 3});
    link.on_view_changed(nullptr, 1);
    desk.start();
    answer_disk({});
  }
  void greet(uint32_t from) {
    pb::Envelope message = Bench::message(from);
    pb::MemberState& self = *message.mutable_push_pull()->add_members();
    self.set_id(id_of(from).value);
    self.set_name("n" + std::to_string(from));
    self.set_peer(peer_of(from).to_bytes());
    self.set_client(client_of(from).to_bytes());
    self.set_incarnation(1);
    link.on_push_pull(message);
    env.take_sent();
  }
  void answer_disk(std::vector<storage::PartitionUsage> usage) {
    const auto request = take_request();
    REQUIRE(std::holds_alternative<storage::ReadUsage>(request.op));
    desk.on_storage_done({request.tag, Status(), storage::ReadUsageResult{std::move(usage)}});
  }
  void reply(uint32_t from, uint64_t operation, uint64_t keys, uint64_t primary_keys) {
    pb::Envelope message = Bench::message(from);
    pb::StatusReply& reply = *message.mutable_status_reply();
    reply.set_operation(operation);
    reply.set_epoch(2);
    reply.set_digest(context.view->digest());
    reply.set_keys(keys);
    reply.set_primary_keys(primary_keys);
    reply.set_bytes(10 * keys);
    desk.on_reply(message);
  }
  void wait(Duration by) {
    advance(by, [this](const Deadlines::Due& due) { desk.on_deadline(due.cookie); });
  }
  json status() { return json::parse(std::get<TextReply>(env.answers.at(5)).text); }

  TopologyKeeper keeper{context};
  Twin twin{context};
  GossipLink link{context, keeper, twin};
  StatusDesk desk{context};
};

TEST_CASE("status: all living members are asked, and the last reply answers") {
  StatusBench bench;
  bench.greet(2);
  bench.greet(3);
  bench.desk.on_command(5, StatusOperation::Kind::kStatus);
  const auto asked = bench.env.take_sent();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].to == peer_of(2));
  CHECK(asked[1].to == peer_of(3));
  const uint64_t operation = asked[0].message.status().operation();

  bench.reply(2, operation, 20, 7);
  bench.reply(3, operation, 20, 7);
  CHECK(bench.env.answers.empty());
  CHECK(bench.desk.running() == 1);
  bench.answer_disk({{4, 100}, {2, 50}});
  CHECK(bench.desk.running() == 0);

  const json status = bench.status();
  CHECK(status["cluster_id"] == "000000000000004d");
  CHECK(status["epoch"] == 2);
  CHECK(status["digest"] == NodeId{bench.context.view->digest()}.to_string());
  CHECK(status["policy"] == "token-ring");
  CHECK(status["partitions"] == 64);
  CHECK(status["replication"] == 3);
  CHECK(status["me"] == "n1");
  CHECK(status["transition"].is_null());
  CHECK(status["settled"] == true);
  CHECK(status["shortfall"] == 0);
  CHECK(status["hints"] == json({{"count", 0}, {"bytes", 0}}));
  CHECK(status["alarms"] == json::array());
  REQUIRE(status["members"].size() == 3);
  const json& n2 = status["members"][1];
  CHECK(n2["id"] == id_of(2).to_string());
  CHECK(n2["name"] == "n2");
  CHECK(n2["state"] == "active");
  CHECK(n2["liveness"] == "alive");
  CHECK(n2["client"] == client_of(2).to_string());
  CHECK(n2["peer"] == peer_of(2).to_string());
  CHECK(n2["weight"] == 1);
  CHECK(n2["rack"] == "");
  CHECK(n2["partitions"] == 64);
  CHECK(n2["keys"] == 20);
  CHECK(n2["bytes"] == 200);
  CHECK(n2["epoch"] == 2);
  CHECK(n2["digest"] == status["digest"]);
  CHECK(status["members"][0]["keys"] == 6);
}

TEST_CASE(
    "status: a silent member is shown as silent at the deadline, and the cluster is not settled") {
  StatusBench bench;
  bench.greet(2);
  bench.greet(3);
  bench.context.alarm("smoke");
  bench.desk.on_command(5, StatusOperation::Kind::kStatus);
  const uint64_t operation = bench.env.take_sent().at(0).message.status().operation();
  bench.answer_disk({});
  bench.reply(2, operation, 1, 1);
  CHECK(bench.env.answers.empty());
  bench.wait(StatusOperation::kTimeout);

  const json status = bench.status();
  CHECK(status["settled"] == false);
  CHECK(status["members"][2]["keys"].is_null());
  CHECK(status["members"][2]["epoch"] == 0);
  CHECK(status["members"][2]["digest"] == "");
  CHECK(status["alarms"] == json({"n1: smoke"}));
  bench.reply(3, operation, 1, 1);  // too late, and harmless
  CHECK(bench.desk.running() == 0);
}

TEST_CASE("status: nobody waits for the dead") {
  StatusBench bench;
  bench.greet(2);
  bench.desk.on_command(5, StatusOperation::Kind::kStatus);
  const auto asked = bench.env.take_sent();
  REQUIRE(asked.size() == 1);
  bench.answer_disk({});
  bench.reply(2, asked[0].message.status().operation(), 1, 1);
  const json status = bench.status();
  CHECK(status["members"][2]["liveness"] == "dead");
  CHECK(status["settled"] == false);
}

TEST_CASE("status: a member in another epoch is not settled") {
  StatusBench bench;
  bench.context.view = opened(*bench.context.view);
  bench.greet(2);
  bench.greet(3);
  bench.desk.on_command(5, StatusOperation::Kind::kStatus);
  const uint64_t operation = bench.env.take_sent().at(0).message.status().operation();
  bench.answer_disk({});
  bench.reply(2, operation, 0, 0);
  bench.reply(3, operation, 0, 0);
  CHECK(bench.status()["settled"] == false);
}

TEST_CASE("status: the number of keys counts each key once, where its partition's head holds it") {
  StatusBench bench;
  bench.greet(2);
  bench.greet(3);
  bench.desk.on_command(5, StatusOperation::Kind::kSize);
  const uint64_t operation = bench.env.take_sent().at(0).message.status().operation();
  bench.reply(2, operation, 30, 11);
  bench.reply(3, operation, 30, 9);
  std::vector<storage::PartitionUsage> usage(64);
  uint64_t headed = 0;
  for (uint32_t partition = 0; partition < 30; ++partition) {
    usage[partition].keys = 1;
    headed += bench.context.view->owners(partition).front() == id_of(1);
  }
  bench.answer_disk(usage);
  CHECK(std::get<IntegerReply>(bench.env.answers.at(5)).value == static_cast<int64_t>(20 + headed));
}

TEST_CASE("status: with a member dead its share of the keys is estimated from the other replicas") {
  const auto view = joined(*founded(), {2, 3});
  StatusOperation::Replies replies;
  replies[id_of(1)].set_keys(90);
  replies[id_of(1)].set_primary_keys(28);
  replies[id_of(2)].set_keys(90);
  replies[id_of(2)].set_primary_keys(32);
  CHECK(cluster_keys(*view, replies) == 90);
}

TEST_CASE("status: a peer's question is answered from the disk, several from one asking") {
  StatusBench bench;
  const auto ask = [&](uint32_t from, uint64_t operation) {
    pb::Envelope message = Bench::message(from);
    message.mutable_status()->set_operation(operation);
    bench.desk.on_question(message);
  };
  ask(2, 21);
  ask(3, 31);
  ask(3, 32);
  CHECK(bench.env.submitted.size() == 1);
  bench.answer_disk({{5, 70}});
  // What came after the disk was asked waits for a fresh answer.
  CHECK(bench.env.sent.size() == 1);
  bench.answer_disk({{6, 80}});
  REQUIRE(bench.env.sent.size() == 3);
  CHECK(bench.env.sent[0].to == peer_of(2));
  CHECK(bench.env.sent[0].message.status_reply().operation() == 21);
  CHECK(bench.env.sent[0].message.status_reply().keys() == 5);
  CHECK(bench.env.sent[0].message.status_reply().bytes() == 70);
  CHECK(bench.env.sent[2].to == peer_of(3));
  CHECK(bench.env.sent[2].message.status_reply().operation() == 32);
  CHECK(bench.env.sent[2].message.status_reply().keys() == 6);
}

TEST_CASE("status: too many questions are dropped, too many commands refused") {
  StatusBench bench;
  pb::Envelope question = Bench::message(2);
  question.mutable_status();
  for (size_t i = 0; i < 2 * StatusDesk::kQuestionsMax; ++i) bench.desk.on_question(question);
  bench.answer_disk({});
  bench.answer_disk({});
  CHECK(bench.env.submitted.empty());
  CHECK(bench.env.sent.size() <= StatusDesk::kQuestionsMax + 1);

  for (RequestId id = 1; id <= StatusDesk::kOperationsMax + 1; ++id) {
    bench.desk.on_command(id, StatusOperation::Kind::kSize);
  }
  REQUIRE(bench.env.answers.size() == 1);
  CHECK(std::holds_alternative<ErrorReply>(bench.env.answers.begin()->second));
}

TEST_CASE("status: a client that left is not answered") {
  StatusBench bench;
  bench.desk.on_command(5, StatusOperation::Kind::kSize);
  bench.desk.on_client_lost(5);
  CHECK(bench.desk.running() == 0);
  bench.answer_disk({});
  bench.wait(StatusOperation::kTimeout);
  CHECK(bench.env.answers.empty());
}

TEST_CASE("status: a disk that fails shows this daemon as silent") {
  StatusBench bench;
  bench.desk.on_command(5, StatusOperation::Kind::kStatus);
  bench.desk.on_storage_done(bench.refused());
  CHECK(bench.env.answers.empty());
  bench.wait(StatusOperation::kTimeout);
  CHECK(bench.status()["members"][0]["keys"].is_null());
}

TEST_CASE("status: the gauges of keys and bytes follow the disk") {
  StatusBench bench;
  bench.wait(StatusDesk::kGaugeInterval);
  bench.answer_disk({{5, 70}, {1, 30}});
  CHECK(bench.context.metrics.keys == 6);
  CHECK(bench.context.metrics.bytes == 100);
}

TEST_CASE("status: INFO has the fields that Redis clients look at, before and after joining") {
  Bench bench;
  bench.config.version = "1.2.3";
  NodeMetrics metrics;
  std::string text =
      info_text(bench.context, metrics, bench.context.now.at - std::chrono::hours(1));
  CHECK(text.find("# Server\r\nredis_version:7.0.0\r\n") == 0);
  CHECK(text.find("torc_version:1.2.3\r\n") != text.npos);
  CHECK(text.find("uptime_in_seconds:3600\r\n") != text.npos);
  CHECK(text.find("role:master\r\n") != text.npos);
  CHECK(text.find("torc_epoch:0\r\n") != text.npos);
  CHECK(text.find("db0") == text.npos);

  bench.context.view = founded();
  metrics.epoch = 1;
  metrics.keys = 12;
  text = info_text(bench.context, metrics, bench.context.now.at);
  CHECK(text.find("torc_cluster_id:000000000000004d\r\n") != text.npos);
  CHECK(text.find("torc_epoch:1\r\n") != text.npos);
  CHECK(text.find("db0:keys=12,") != text.npos);
}

}  // namespace
}  // namespace torc::node
