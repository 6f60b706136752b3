#include "daemon/node/get_operation.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;

constexpr Level kOne{.kind = Level::kOne, .count = 0};
constexpr Level kAll{.kind = Level::kAll, .count = 0};

const std::string kOld = record_of("old", version_at(100, 2));
const std::string kNew = record_of("new", version_at(200, 3));

// The value that the client was told; "-" when the key was not found, "?" when there is no answer.
std::string told(const DataEnv& env, RequestId request) {
  if (!env.answered(request)) return "?";
  const auto* reply = env.reply<GetReply>(request);
  REQUIRE(reply != nullptr);
  return reply->found ? std::string(reply->value()) : "-";
}

const ErrorReply& error_of(const DataEnv& env, RequestId request, ErrorReply::Code code) {
  const auto* error = env.reply<ErrorReply>(request);
  REQUIRE(error != nullptr);
  CHECK(error->code == code);
  return *error;
}

TEST_CASE("get: a majority that agrees is the answer, and nothing is written") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  const pb::ReadRequest to2 = env.take_read(2);
  const pb::ReadRequest to3 = env.take_read(3);
  CHECK(to2.SerializeAsString() == to3.SerializeAsString());
  CHECK(to2.key() == "k");
  CHECK(to2.epoch() == 1);
  CHECK(to2.partition() == env.context.view->partition_of("k"));
  env.run_storage();
  CHECK(told(env, get) == "?");
  env.reply_read(2, to2.operation(), kNew);
  CHECK(told(env, get) == "new");
  CHECK(env.coordinator->running() == 0);  // what is left is in the background
  env.reply_read(3, to3.operation(), kNew);
  CHECK(env.sent.empty());
  CHECK(env.context.metrics.read_repairs == 0);
  CHECK(env.context.metrics.gets == 1);
  CHECK(env.context.deadlines.size() == 0);
}

TEST_CASE("get: replies that are all absent are \"not found\" and need no write-back") {
  DataEnv env;
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), "");
  CHECK(told(env, get) == "-");
  env.reply_read(3, env.take_read(3).operation(), "");
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
}

TEST_CASE("get: a newer version than a majority holds is written back before the answer") {
  DataEnv env;
  env.store("k", kOld);
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.sent.clear();
  env.run_storage();
  env.reply_read(2, operation, kNew);
  CHECK(told(env, get) == "?");
  CHECK(env.sent.empty());             // n2 holds it
  REQUIRE(env.submitted.size() == 1);  // the own copy gets it
  env.run_storage();
  CHECK(told(env, get) == "new");
  CHECK(env.stored("k") == kNew);  // with its own version
  CHECK(env.context.metrics.read_repairs == 1);
}

TEST_CASE("get: a write-back to a peer is waited for, and STALE there counts as stored") {
  for (const pb::ReplicaStatus status : {pb::OK, pb::STALE}) {
    DataEnv env;
    env.store("k", kNew);
    const RequestId get = env.get("k");
    env.run_storage();
    env.reply_read(2, env.take_read(2).operation(), kOld);
    const pb::MergeRequest merge = env.take_merge(2);
    CHECK(merge.key() == "k");
    CHECK(merge.record() == kNew);
    CHECK(merge.epoch() == 1);
    CHECK(told(env, get) == "?");
    env.reply_merge(2, merge.operation(), status, version_at(300, 2));
    CHECK(told(env, get) == "new");
    CHECK(env.context.metrics.stale_retries == 0);
  }
}

TEST_CASE("get: a third replica that holds the version spares the wait for the write-back") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, kOld);
  CHECK(told(env, get) == "?");
  env.reply_read(3, operation, kNew);
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: an old reply that comes while the write-back runs does not spare the wait") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  env.sent.clear();
  env.reply_read(3, operation, kOld);
  CHECK(told(env, get) == "?");
  env.reply_merge(3, env.take_merge(3).operation());
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: registers of different replies are joined, and the join is what is placed") {
  const auto version = version_at(200, 3);
  const std::string with_expiry = storage::encode(
      {.version = version,
       .tombstone = false,
       .value = "v",
       .expiry = {version_at(250, 2), version, Hlc::from_ms(DataEnv::kStartWallMs + 5000)}});
  DataEnv env;
  env.store("k", with_expiry);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), record_of("v", version));
  CHECK(told(env, get) == "?");  // the same value, but a majority does not know its expiry
  const pb::MergeRequest merge = env.take_merge(2);
  CHECK(merge.record() == with_expiry);
  env.reply_merge(2, merge.operation());
  CHECK(told(env, get) == "v");
  CHECK(env.reply<GetReply>(get)->expires_at_ms == DataEnv::kStartWallMs + 5000);
}

TEST_CASE("get: two replies that each know something are joined into a record neither holds") {
  const auto version = version_at(200, 3);
  // n2 has an expiry of a value that it has not received yet.
  const std::string expiry_only = storage::encode(
      {.version = {},
       .tombstone = false,
       .value = {},
       .expiry = {version_at(250, 2), version, Hlc::from_ms(DataEnv::kStartWallMs + 5000)}});
  DataEnv env;
  env.store("k", record_of("v", version));
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), expiry_only);
  const pb::MergeRequest merge = env.take_merge(2);
  CHECK(merge.record() != expiry_only);
  env.reply_merge(2, merge.operation());
  CHECK(told(env, get) == "?");  // two must hold the join
  env.run_storage();
  CHECK(told(env, get) == "v");
  CHECK(env.stored("k") == merge.record());
}

TEST_CASE("get: a deleted key is not found, and the tombstone is written back like a value") {
  DataEnv env;
  env.store("k", kOld);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), tombstone_of(version_at(300, 3)));
  CHECK(told(env, get) == "?");
  env.run_storage();
  CHECK(told(env, get) == "-");
  CHECK(env.stored("k") == tombstone_of(version_at(300, 3)));
}

TEST_CASE("get: an expired key is not found from the moment of its expiry on") {
  const auto version = version_at(200, 3);
  const std::string record =
      storage::encode({.version = version,
                       .tombstone = false,
                       .value = "v",
                       .expiry = {version, version, Hlc::from_ms(DataEnv::kStartWallMs + 1000)}});
  DataEnv env;
  const auto value_now = [&] {
    const RequestId get = env.get("k", kAll);
    env.store("k", record);
    env.run_storage();
    const uint64_t operation = env.take_read(2).operation();
    env.reply_read(2, operation, record);
    env.reply_read(3, operation, record);
    return told(env, get);
  };
  env.wait_ms(999);
  CHECK(value_now() == "v");
  env.wait_ms(1);
  CHECK(value_now() == "-");
}

TEST_CASE("get: the clock that decides on expiry includes what other daemons' clocks have shown") {
  const auto version = version_at(200, 3);
  const std::string record =
      storage::encode({.version = version,
                       .tombstone = false,
                       .value = "v",
                       .expiry = {version, version, Hlc::from_ms(DataEnv::kStartWallMs + 1000)}});
  DataEnv env;
  env.store("k", record);
  const RequestId get = env.get("k");
  env.run_storage();
  env.context.hlc.observe(Hlc::from_ms(DataEnv::kStartWallMs + 1000));
  env.reply_read(2, env.take_read(2).operation(), record);
  CHECK(told(env, get) == "-");
}

TEST_CASE("get: a replica that answers late and old is repaired after the client has its answer") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, kNew);
  CHECK(told(env, get) == "new");
  env.sent.clear();
  env.reply_read(3, operation, kOld);
  CHECK(env.take_merge(3).record() == kNew);
  CHECK(env.context.metrics.read_repairs == 1);
  env.reply_merge(3, operation);
  CHECK(env.context.deadlines.size() == 0);
  CHECK(env.answers.size() == 1);
}

TEST_CASE("get: a late reply that is newer repairs those that answered in time") {
  DataEnv env;
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  CHECK(told(env, get) == "-");
  env.sent.clear();
  env.reply_read(3, operation, kNew);
  CHECK(env.take_merge(2).record() == kNew);
  CHECK(env.sent_to(3) == 0);
  env.run_storage();
  CHECK(env.stored("k") == kNew);
}

TEST_CASE("get: the background has a bound in time") {
  DataEnv env;
  env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  CHECK(env.context.deadlines.size() == 1);
  env.wait_ms(5000);
  CHECK(env.context.deadlines.size() == 0);
  env.sent.clear();
  env.reply_read(3, operation, kNew);
  CHECK(env.sent.empty());
  CHECK(env.answers.size() == 1);
}

TEST_CASE("get: the background has a bound in bytes, beyond which late replicas are not repaired") {
  DataEnv env;
  const std::string big = record_of(std::string(kValueBytesMax, 'v'), version_at(200, 3));
  std::vector<uint64_t> operations;
  for (int i = 0; i < 5; ++i) {
    const RequestId get = env.get("k");
    operations.push_back(env.take_read(2).operation());
    env.submitted.clear();
    env.reply_read(2, operations.back(), big);
    env.reply_read(3, operations.back(), big);
    CHECK(env.answered(get));
  }
  CHECK(env.context.deadlines.size() ==
        3);  // 64 MiB hold three values of 16 MiB and what goes along
  env.wait_ms(5000);
  CHECK(env.context.deadlines.size() == 0);
}

TEST_CASE("get: the rest is freed when a background repair is done") {
  DataEnv env;
  const std::string big = record_of(std::string(kValueBytesMax, 'v'), version_at(200, 3));
  env.store("k", big);
  for (int i = 0; i < 8; ++i) {
    env.get("k");
    env.run_storage();
    const uint64_t operation = env.take_read(2).operation();
    env.reply_read(2, operation, big);
    CHECK(env.context.deadlines.size() == 1);
    env.reply_read(3, operation, big);
    CHECK(env.context.deadlines.size() == 0);
  }
}

TEST_CASE("get: level one tells the first reply and writes nothing back") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k", kOne);
  const uint64_t operation = env.take_read(3).operation();
  env.reply_read(3, operation, kOld);
  CHECK(told(env, get) == "old");
  env.sent.clear();
  env.run_storage();
  env.reply_read(2, operation, kNew);
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("get: level all waits for every replica") {
  DataEnv env;
  const RequestId get = env.get("k", kAll);
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  CHECK(told(env, get) == "?");
  env.reply_read(3, operation, kNew);
  CHECK(told(env, get) == "?");  // held by one of three
  env.run_storage();
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: too few replicas alive is UNAVAILABLE at once, and says who is missing") {
  DataEnv env;
  env.set_liveness(3, pb::DEAD);
  const RequestId get = env.get("k", kAll);
  CHECK(error_of(env, get, ErrorReply::kUnavailable).message ==
        "needs 3 of 3 replicas; missing: n3");
  CHECK(env.sent.empty());
}

TEST_CASE("get: a level above the number of replicas is an error") {
  DataEnv env;
  const RequestId get = env.get("k", {.kind = Level::kCount, .count = 9});
  error_of(env, get, ErrorReply::kError);
}

TEST_CASE("get: silent replicas are asked again, and at the deadline the reply says who they are") {
  DataEnv env;
  const RequestId get = env.get("k");
  env.run_storage();
  const pb::ReadRequest first = env.take_read(2);
  env.wait_ms(250);
  CHECK(env.take_read(2).SerializeAsString() == first.SerializeAsString());
  CHECK(env.submitted.empty());
  env.wait_ms(4750);
  const ErrorReply& error = error_of(env, get, ErrorReply::kTimeout);
  CHECK(error.message.starts_with("n1 answered, "));
  CHECK(error.message.ends_with(" did not"));
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("get: a lost write-back is sent again") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), kOld);
  const pb::MergeRequest first = env.take_merge(2);
  env.wait_ms(250);
  const pb::MergeRequest second = env.take_merge(2);
  CHECK(second.SerializeAsString() == first.SerializeAsString());
  CHECK(env.context.metrics.read_repairs == 1);
  env.reply_merge(2, second.operation());
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: a write-back that reaches no majority in time is no answer") {
  DataEnv env;
  env.store("k", kNew);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), kOld);
  env.wait_ms(5000);
  error_of(env, get, ErrorReply::kTimeout);
}

TEST_CASE("get: a doubled reply counts once") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, kNew);
  env.reply_read(2, operation, kNew);
  CHECK(told(env, get) == "?");
}

TEST_CASE("get: storage that fails is an error and never \"not found\"") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.fail_storage();
  CHECK(told(env, get) == "?");
  SUBCASE("said by the replica") {
    env.reply_read(2, operation, "", pb::STORAGE_ERROR);
  }
  SUBCASE("seen in its bytes") {
    env.reply_read(2, operation, "not a record");
  }
  const ErrorReply& error = error_of(env, get, ErrorReply::kError);
  CHECK(error.message.starts_with("storage failed: "));
}

TEST_CASE("get: a replica that cannot read is outvoted by the others") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.fail_storage();
  env.reply_read(2, operation, kNew);
  env.reply_read(3, operation, kNew);
  CHECK(told(env, get) == "new");
}

TEST_CASE(
    "get: under a newer epoch with other owners it asks them anew and forgets the old replies") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t first = env.take_read(2).operation();
  env.peer_epoch = 2;
  env.reply_read(2, first, "", pb::BEHIND);
  CHECK(env.behind_told.size() == 1);
  env.run_storage();  // absent
  env.set_view(2, true, {.replication = 1, .first_member = 2});
  const NodeId owner = env.context.view->owners(env.context.view->partition_of("k"))[0];
  const int member = owner == id_of(2) ? 2 : 3;
  const pb::ReadRequest second = env.take_read(member);
  CHECK(second.epoch() == 2);
  CHECK(second.operation() != first);
  env.reply_read(member, first, "");
  CHECK(told(env, get) == "?");
  env.reply_read(member, second.operation(), kNew);
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: an epoch that leaves the key's owners alone disturbs nothing") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.sent.clear();
  env.reply_read(2, operation, kNew);
  env.set_view(2, true);
  CHECK(env.sent.empty());
  env.reply_read(3, operation, kNew);
  CHECK(told(env, get) == "new");
}

TEST_CASE("get: a replica that is busy or catching up is asked again soon") {
  DataEnv env;
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "", pb::BUSY);
  env.wait_ms(20);
  CHECK(env.take_read(2).operation() == operation);
  env.reply_read(2, operation, "");
  CHECK(told(env, get) == "-");
}

TEST_CASE("get: reads need no epoch that is open for writes") {
  DataEnv env;
  env.set_view(2, false);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), "");
  CHECK(told(env, get) == "-");
  CHECK(env.open_writes_asked == 0);
}

TEST_CASE("get: without its client it ends") {
  DataEnv env;
  const RequestId get = env.get("k");
  env.coordinator->on_client_lost(get);
  CHECK(env.coordinator->running() == 0);
  CHECK(env.context.deadlines.size() == 0);
  env.run_storage();
  CHECK(env.answers.empty());
}

TEST_CASE("get: a cluster of one answers from its own disk") {
  DataEnv env(1);
  env.store("k", kNew);
  const RequestId get = env.get("k");
  CHECK(told(env, get) == "?");
  env.run_storage();
  CHECK(told(env, get) == "new");
  CHECK(env.sent.empty());
}

}  // namespace
}  // namespace torc::node
