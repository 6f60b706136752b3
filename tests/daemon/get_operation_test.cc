#include "daemon/node/get_operation.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;

constexpr Level kOne{.kind = Level::kOne, .count = 0};
constexpr Level kAll{.kind = Level::kAll, .count = 0};

std::string old_record() {
  return record_of("old", version_at(100, 2));
}
std::string new_record() {
  return record_of("new", version_at(200, 3));
}

TEST_CASE("get: a majority that agrees is the answer, and nothing is written") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  const pb::ReadRequest to2 = env.take_read(2);
  const pb::ReadRequest to3 = env.take_read(3);
  CHECK(to2.SerializeAsString() == to3.SerializeAsString());
  CHECK(to2.key() == "k");
  CHECK(to2.epoch() == 1);
  CHECK(to2.partition() == env.context.view->partition_of("k"));
  env.run_storage();
  CHECK(env.told(get) == "?");
  env.reply_read(2, to2.operation(), new_record());
  CHECK(env.told(get) == "new");
  CHECK(env.coordinator->running() == 0);  // what is left is in the background
  env.reply_read(3, to3.operation(), new_record());
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
  CHECK(env.told(get) == "-");
  env.reply_read(3, env.take_read(3).operation(), "");
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
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
    return env.told(get);
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
  CHECK(env.told(get) == "-");
}

TEST_CASE("get: level one tells the first reply and writes nothing back") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k", kOne);
  const uint64_t operation = env.take_read(3).operation();
  env.reply_read(3, operation, old_record());
  CHECK(env.told(get) == "old");
  env.sent.clear();
  env.run_storage();
  env.reply_read(2, operation, new_record());
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
  CHECK(env.told(get) == "?");
  env.reply_read(3, operation, new_record());
  CHECK(env.told(get) == "?");  // held by one of three
  env.run_storage();
  CHECK(env.told(get) == "new");
}

TEST_CASE("get: too few replicas alive is UNAVAILABLE at once, and says who is missing") {
  DataEnv env;
  env.set_liveness(3, pb::DEAD);
  const RequestId get = env.get("k", kAll);
  CHECK(env.error(get, ErrorReply::kUnavailable).message == "needs 3 of 3 replicas; missing: n3");
  CHECK(env.sent.empty());
}

TEST_CASE("get: a level above the number of replicas is an error") {
  DataEnv env;
  const RequestId get = env.get("k", {.kind = Level::kCount, .count = 9});
  env.error(get, ErrorReply::kError);
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
  const ErrorReply& error = env.error(get, ErrorReply::kTimeout);
  CHECK(error.message.starts_with("n1 answered, "));
  CHECK(error.message.ends_with(" did not"));
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("get: a doubled reply counts once") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, new_record());
  env.reply_read(2, operation, new_record());
  CHECK(env.told(get) == "?");
}

TEST_CASE("get: storage that fails is an error and never \"not found\"") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.fail_storage();
  CHECK(env.told(get) == "?");
  SUBCASE("said by the replica") {
    env.reply_read(2, operation, "", pb::STORAGE_ERROR);
  }
  SUBCASE("seen in its bytes") {
    env.reply_read(2, operation, "not a record");
  }
  const ErrorReply& error = env.error(get, ErrorReply::kError);
  CHECK(error.message.starts_with("storage failed: "));
}

TEST_CASE("get: a replica that cannot read is outvoted by the others") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.fail_storage();
  env.reply_read(2, operation, new_record());
  env.reply_read(3, operation, new_record());
  CHECK(env.told(get) == "new");
}

TEST_CASE(
    "get: under a newer epoch with other owners it asks them anew and forgets the old replies") {
  DataEnv env;
  env.store("k", old_record());
  const RequestId get = env.get("k");
  const uint64_t first = env.take_read(2).operation();
  env.peer_epoch = 2;
  env.reply_read(2, first, "", pb::BEHIND);
  CHECK(env.behind_told.size() == 1);
  env.run_storage();
  env.set_view(2, true, {.replication = 1, .first_member = 2});
  const NodeId owner = env.context.view->owners(env.context.view->partition_of("k"))[0];
  const int member = owner == id_of(2) ? 2 : 3;
  const pb::ReadRequest second = env.take_read(member);
  CHECK(second.epoch() == 2);
  CHECK(second.operation() != first);
  env.reply_read(member, first, "");
  CHECK(env.told(get) == "?");
  env.reply_read(member, second.operation(), "");
  CHECK(env.told(get) == "-");
}

TEST_CASE("get: an epoch that leaves the key's owners alone disturbs nothing") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.sent.clear();
  env.reply_read(2, operation, new_record());
  env.set_view(2, true);
  CHECK(env.sent.empty());
  env.reply_read(3, operation, new_record());
  CHECK(env.told(get) == "new");
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
  CHECK(env.told(get) == "-");
}

TEST_CASE("get: reads need no epoch that is open for writes") {
  DataEnv env;
  env.set_view(2, false);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), "");
  CHECK(env.told(get) == "-");
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
  env.store("k", new_record());
  const RequestId get = env.get("k");
  CHECK(env.told(get) == "?");
  env.run_storage();
  CHECK(env.told(get) == "new");
  CHECK(env.sent.empty());
}

}  // namespace
}  // namespace torc::node
