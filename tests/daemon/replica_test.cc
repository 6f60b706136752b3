#include "daemon/node/replica.h"

#include <doctest/doctest.h>

#include "data_env.h"
#include "storage/reconcile.h"

namespace torc::node {
namespace {

constexpr uint64_t kOperation = 0xabcdef;

pb::Envelope merge_from(const DataEnv& env, int member, const std::string& key, std::string record,
                        uint64_t epoch = 1) {
  pb::Envelope message = DataEnv::from(member);
  pb::MergeRequest& merge = *message.mutable_merge();
  merge.set_operation(kOperation);
  merge.set_epoch(epoch);
  merge.set_partition(env.context.view->partition_of(key));
  merge.set_key(key);
  merge.set_record(std::move(record));
  return message;
}

pb::Envelope read_from(const DataEnv& env, int member, const std::string& key, uint64_t epoch = 1) {
  pb::Envelope message = DataEnv::from(member);
  pb::ReadRequest& read = *message.mutable_read();
  read.set_operation(kOperation);
  read.set_epoch(epoch);
  read.set_partition(env.context.view->partition_of(key));
  read.set_key(key);
  return message;
}

// The one message that was sent, which must go to this member.
pb::Envelope only_reply(DataEnv& env, int member) {
  REQUIRE(env.sent.size() == 1);
  CHECK(env.sent[0].to == peer_of(member));
  CHECK(env.sent[0].message.from() == id_of(1).value);
  pb::Envelope message = std::move(env.sent[0].message);
  env.sent.clear();
  return message;
}

pb::MergeReply merge_reply(DataEnv& env, pb::Envelope message, int member = 2) {
  env.replica.on_merge(message);
  env.run_storage();
  const pb::Envelope reply = only_reply(env, member);
  REQUIRE(reply.has_merge_reply());
  CHECK(reply.merge_reply().operation() == kOperation);
  return reply.merge_reply();
}

pb::ReadReply read_reply(DataEnv& env, pb::Envelope message, int member = 2) {
  env.replica.on_read(message);
  env.run_storage();
  const pb::Envelope reply = only_reply(env, member);
  REQUIRE(reply.has_read_reply());
  CHECK(reply.read_reply().operation() == kOperation);
  return reply.read_reply();
}

TEST_CASE("replica: a write is acknowledged only when storage says it is durable") {
  DataEnv env;
  pb::Envelope message = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  env.replica.on_merge(message);
  CHECK(env.sent.empty());
  CHECK(env.replica.pending() == 1);
  env.run_storage();
  const pb::MergeReply reply = only_reply(env, 2).merge_reply();
  CHECK(reply.status() == pb::OK);
  CHECK_FALSE(reply.existed());
  CHECK(reply.epoch() == 1);
  CHECK(env.replica.pending() == 0);
  CHECK(env.context.metrics.replica_merges == 1);
  CHECK(env.stored("k") == record_of("v", version_at(5, 2)));
}

TEST_CASE("replica: a read is answered with the record as it is stored, or with nothing") {
  DataEnv env;
  CHECK(read_reply(env, read_from(env, 2, "k")).record().empty());
  env.store("k", record_of("v", version_at(5, 2)));
  const pb::ReadReply reply = read_reply(env, read_from(env, 2, "k"));
  CHECK(reply.status() == pb::OK);
  CHECK(reply.record() == record_of("v", version_at(5, 2)));
  CHECK(env.context.metrics.replica_reads == 2);
}

TEST_CASE("replica: a write older than what is stored is answered STALE with the newer version") {
  DataEnv env;
  env.store("k", record_of("new", version_at(9, 3)));
  const pb::MergeReply reply =
      merge_reply(env, merge_from(env, 2, "k", record_of("old", version_at(5, 2))));
  CHECK(reply.status() == pb::STALE);
  CHECK(reply.stale_hlc() == 9);
  CHECK(reply.stale_node() == id_of(3).value);
  CHECK(reply.existed());
  CHECK(env.stored("k") == record_of("new", version_at(9, 3)));
}

TEST_CASE("replica: an expiry alone has no value version that could be STALE") {
  DataEnv env;
  env.store("k", record_of("v", version_at(9, 3)));
  const std::string expiry = storage::encode({.version = {},
                                              .tombstone = false,
                                              .value = {},
                                              .expiry = {version_at(11, 2), version_at(9, 3), 77}});
  CHECK(merge_reply(env, merge_from(env, 2, "k", expiry)).status() == pb::OK);
  CHECK(storage::RecordView::parse(env.stored("k"))->expiry.expires_at == 77);
}

TEST_CASE("replica: the same write twice is acknowledged twice") {
  DataEnv env;
  const std::string record = record_of("v", version_at(5, 2));
  CHECK(merge_reply(env, merge_from(env, 2, "k", record)).status() == pb::OK);
  CHECK(merge_reply(env, merge_from(env, 2, "k", record)).status() == pb::OK);
}

TEST_CASE("replica: the version of an arriving record advances the clock, however far ahead") {
  DataEnv env;
  const uint64_t far = storage::Hlc::from_ms(DataEnv::kStartWallMs) * 2;
  CHECK(merge_reply(env, merge_from(env, 2, "k", record_of("v", version_at(far, 2)))).status() ==
        pb::OK);
  CHECK(env.context.hlc.read(0) == far);
}

TEST_CASE("replica: a request stamped before the partition's last change is BEHIND") {
  DataEnv env;
  env.set_view(4, true, {.replication = 2, .first_member = 1});  // every partition changes
  const std::string key = env.key_owned_by({1, 2});
  CHECK(merge_reply(env, merge_from(env, 2, key, record_of("v", version_at(5, 2)), 3)).status() ==
        pb::BEHIND);
  const pb::ReadReply reply = read_reply(env, read_from(env, 2, key, 3));
  CHECK(reply.status() == pb::BEHIND);
  CHECK(reply.epoch() == 4);
  CHECK(env.stored(key).empty());
}

TEST_CASE("replica: an older epoch is good enough for a partition that has not changed since") {
  DataEnv env;
  env.set_view(2, true);
  CHECK(merge_reply(env, merge_from(env, 2, "k", record_of("v", version_at(5, 2)), 1)).status() ==
        pb::OK);
  CHECK(read_reply(env, read_from(env, 2, "k", 1)).status() == pb::OK);
}

TEST_CASE("replica: a request of a newer epoch is AHEAD, and the newer epoch is fetched") {
  DataEnv env;
  CHECK(merge_reply(env, merge_from(env, 2, "k", record_of("v", version_at(5, 2)), 8)).status() ==
        pb::AHEAD);
  CHECK(read_reply(env, read_from(env, 3, "k", 9), 3).status() == pb::AHEAD);
  REQUIRE(env.behind_told.size() == 2);
  CHECK(env.behind_told[0] == std::pair(peer_of(2), uint64_t{8}));
  CHECK(env.behind_told[1] == std::pair(peer_of(3), uint64_t{9}));
  CHECK(env.stored("k").empty());
}

TEST_CASE("replica: before it is a member every request is ahead of it") {
  DataEnv env;
  pb::Envelope merge = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  pb::Envelope unstamped = merge_from(env, 2, "k", record_of("v", version_at(5, 2)), 0);
  env.context.view = nullptr;
  CHECK(merge_reply(env, merge).status() == pb::AHEAD);
  CHECK(merge_reply(env, unstamped).status() == pb::STORAGE_ERROR);
}

TEST_CASE("replica: a key that it does not own is refused") {
  DataEnv env(4);
  const std::string key = env.key_owned_by({2, 3, 4});
  CHECK(merge_reply(env, merge_from(env, 2, key, record_of("v", version_at(5, 2)))).status() ==
        pb::NOT_OWNER);
  CHECK(read_reply(env, read_from(env, 2, key)).status() == pb::NOT_OWNER);
}

TEST_CASE("replica: malformed requests are refused, counted and change nothing") {
  DataEnv env;
  const std::string record = record_of("v", version_at(5, 2));
  std::vector<pb::Envelope> bad;
  bad.push_back(merge_from(env, 2, "k", "not a record"));
  bad.push_back(merge_from(env, 2, "k", ""));
  bad.push_back(merge_from(env, 2, "k", record_of("v", {~uint64_t{0}, id_of(2)})));
  bad.push_back(merge_from(env, 2, std::string(kKeyBytesMax + 1, 'k'), record));
  bad.push_back(merge_from(env, 2, "k",
                           record_of(std::string(kValueBytesMax + 2048, 'v'), version_at(5, 2))));
  bad.push_back(merge_from(env, 2, "k", record));
  bad.back().mutable_merge()->set_partition(16);
  bad.push_back(merge_from(env, 2, "k", record));
  bad.back().mutable_merge()->set_partition(env.context.view->partition_of("k") ^ 1);
  for (const pb::Envelope& message : bad) {
    CHECK(merge_reply(env, message).status() == pb::STORAGE_ERROR);
  }
  CHECK(read_reply(env, read_from(env, 2, std::string(kKeyBytesMax + 1, 'k'))).status() ==
        pb::STORAGE_ERROR);
  CHECK(env.context.metrics.replica_refusals == bad.size() + 1);
  CHECK(env.context.metrics.replica_merges == 0);
  CHECK(env.stored("k").empty());
  CHECK(env.context.alarms.empty());
}

TEST_CASE("replica: a request without a sender's address gets no answer") {
  DataEnv env;
  pb::Envelope message = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  message.set_sender("??");
  env.replica.on_merge(message);
  env.run_storage();
  CHECK(env.sent.empty());
  CHECK(env.stored("k").empty());
  CHECK(env.context.metrics.replica_refusals == 1);
}

TEST_CASE("replica: largest keys and values are accepted") {
  DataEnv env;
  const std::string key(kKeyBytesMax, 'k');
  const std::string record = record_of(std::string(kValueBytesMax, 'v'), version_at(5, 2));
  CHECK(merge_reply(env, merge_from(env, 2, key, record)).status() == pb::OK);
  CHECK(env.stored(key) == record);
}

TEST_CASE("replica: while writes are not open nothing is stored") {
  DataEnv env;
  env.set_view(2, false);
  CHECK(merge_reply(env, merge_from(env, 2, "k", record_of("v", version_at(5, 2)), 2)).status() ==
        pb::BEHIND);
  CHECK(read_reply(env, read_from(env, 2, "k", 2)).status() == pb::OK);
  CHECK(env.stored("k").empty());
}

TEST_CASE("replica: when its queue is full it answers BUSY, and again takes requests afterwards") {
  DataEnv env;
  env.config.replica_requests_max = 2;
  for (int i = 0; i < 2; ++i) {
    pb::Envelope message = read_from(env, 2, "k");
    env.replica.on_read(message);
  }
  pb::Envelope read = read_from(env, 2, "k");
  env.replica.on_read(read);
  CHECK(only_reply(env, 2).read_reply().status() == pb::BUSY);
  pb::Envelope merge = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  env.replica.on_merge(merge);
  CHECK(only_reply(env, 2).merge_reply().status() == pb::BUSY);
  CHECK(env.replica.read_local(1, 1, env.context.view->partition_of("k"), "k") == pb::BUSY);
  env.run_storage();
  env.sent.clear();
  CHECK(read_reply(env, read_from(env, 2, "k")).status() == pb::OK);
}

TEST_CASE("replica: a full storage queue is BUSY, which is asked again, and no alarm") {
  DataEnv env;
  pb::Envelope read = read_from(env, 2, "k");
  env.replica.on_read(read);
  env.fail_storage({StatusCode::kBusy, "full"});
  CHECK(only_reply(env, 2).read_reply().status() == pb::BUSY);
  pb::Envelope merge = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  env.replica.on_merge(merge);
  env.fail_storage({StatusCode::kBusy, "full"});
  CHECK(only_reply(env, 2).merge_reply().status() == pb::BUSY);
  CHECK(env.context.alarms.empty());
}

TEST_CASE("replica: a disk that refuses is a STORAGE_ERROR and one alarm, never \"not found\"") {
  DataEnv env;
  pb::Envelope read = read_from(env, 2, "k");
  env.replica.on_read(read);
  env.fail_storage();
  CHECK(only_reply(env, 2).read_reply().status() == pb::STORAGE_ERROR);
  pb::Envelope merge = merge_from(env, 2, "k", record_of("v", version_at(5, 2)));
  env.replica.on_merge(merge);
  env.fail_storage();
  CHECK(only_reply(env, 2).merge_reply().status() == pb::STORAGE_ERROR);
  REQUIRE(env.context.alarms.size() == 1);
  CHECK(env.context.alarms[0].find("broken disk") != std::string::npos);
}

struct RecordingSink final : ReplicaSink {
  void on_local_merge(uint64_t operation, const MergeOutcome& outcome) override {
    merges.emplace_back(operation, outcome);
  }
  void on_local_read(uint64_t operation, ReadOutcome outcome) override {
    reads.emplace_back(operation, std::move(outcome));
  }
  std::vector<std::pair<uint64_t, MergeOutcome>> merges;
  std::vector<std::pair<uint64_t, ReadOutcome>> reads;
};

TEST_CASE("replica: local requests are told to the sink, later, and send nothing") {
  DataEnv env;
  RecordingSink sink;
  env.replica.attach(sink);
  const uint32_t partition = env.context.view->partition_of("k");
  const auto version = version_at(5, 1);
  CHECK(env.replica.merge_local(7, 1, partition, version, "k", record_of("v", version)) == pb::OK);
  CHECK(env.replica.read_local(8, 1, partition, "k") == pb::OK);
  CHECK(sink.merges.empty());
  CHECK(sink.reads.empty());
  env.run_storage();
  REQUIRE(sink.merges.size() == 1);
  CHECK(sink.merges[0].first == 7);
  CHECK(sink.merges[0].second.status == pb::OK);
  REQUIRE(sink.reads.size() == 1);
  CHECK(sink.reads[0].first == 8);
  CHECK(sink.reads[0].second.record == record_of("v", version));
  CHECK(env.sent.empty());
}

}  // namespace
}  // namespace torc::node
