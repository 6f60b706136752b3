#include "daemon/node/get_operation.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;

std::string old_record() {
  return record_of("old", version_at(100, 2));
}
std::string new_record() {
  return record_of("new", version_at(200, 3));
}

TEST_CASE("get: a newer version than a majority holds is written back before the answer") {
  DataEnv env;
  env.store("k", old_record());
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.sent.clear();
  env.run_storage();
  env.reply_read(2, operation, new_record());
  CHECK(env.told(get) == "?");
  CHECK(env.sent.empty());             // n2 holds it
  REQUIRE(env.submitted.size() == 1);  // the own copy gets it
  env.run_storage();
  CHECK(env.told(get) == "new");
  CHECK(env.stored("k") == new_record());  // with its own version
  CHECK(env.context.metrics.read_repairs == 1);
}

TEST_CASE("get: a write-back to a peer is waited for, and STALE there counts as stored") {
  for (const pb::ReplicaStatus status : {pb::OK, pb::STALE}) {
    DataEnv env;
    env.store("k", new_record());
    const RequestId get = env.get("k");
    env.run_storage();
    env.reply_read(2, env.take_read(2).operation(), old_record());
    const pb::MergeRequest merge = env.take_merge(2);
    CHECK(merge.key() == "k");
    CHECK(merge.record() == new_record());
    CHECK(merge.epoch() == 1);
    CHECK(env.told(get) == "?");
    env.reply_merge(2, merge.operation(), status, version_at(300, 2));
    CHECK(env.told(get) == "new");
    CHECK(env.context.metrics.stale_retries == 0);
  }
}

TEST_CASE("get: a third replica that holds the version spares the wait for the write-back") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, old_record());
  CHECK(env.told(get) == "?");
  env.reply_read(3, operation, new_record());
  CHECK(env.told(get) == "new");
}

TEST_CASE("get: an old reply that comes while the write-back runs does not spare the wait") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  env.sent.clear();
  env.reply_read(3, operation, old_record());
  CHECK(env.told(get) == "?");
  env.reply_merge(3, env.take_merge(3).operation());
  CHECK(env.told(get) == "new");
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
  CHECK(env.told(get) == "?");  // the same value, but a majority does not know its expiry
  const pb::MergeRequest merge = env.take_merge(2);
  CHECK(merge.record() == with_expiry);
  env.reply_merge(2, merge.operation());
  CHECK(env.told(get) == "v");
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
  CHECK(env.told(get) == "?");  // two must hold the join
  env.run_storage();
  CHECK(env.told(get) == "v");
  CHECK(env.stored("k") == merge.record());
}

TEST_CASE("get: a deleted key is not found, and the tombstone is written back like a value") {
  DataEnv env;
  env.store("k", old_record());
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), tombstone_of(version_at(300, 3)));
  CHECK(env.told(get) == "?");
  env.run_storage();
  CHECK(env.told(get) == "-");
  CHECK(env.stored("k") == tombstone_of(version_at(300, 3)));
}

TEST_CASE("get: a replica that answers late and old is repaired after the client has its answer") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, new_record());
  CHECK(env.told(get) == "new");
  env.sent.clear();
  env.reply_read(3, operation, old_record());
  CHECK(env.take_merge(3).record() == new_record());
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
  CHECK(env.told(get) == "-");
  env.sent.clear();
  env.reply_read(3, operation, new_record());
  CHECK(env.take_merge(2).record() == new_record());
  CHECK(env.sent_to(3) == 0);
  env.run_storage();
  CHECK(env.stored("k") == new_record());
}

TEST_CASE("get: a late reply that is newer also reaches those that were repaired before") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, old_record());
  env.reply_merge(2, env.take_merge(2).operation());
  CHECK(env.told(get) == "new");
  const std::string newest = record_of("newest", version_at(300, 2));
  env.reply_read(3, operation, newest);
  CHECK(env.take_merge(2).record() == newest);
  env.run_storage();
  CHECK(env.stored("k") == newest);
  CHECK(env.answers.size() == 1);
}

TEST_CASE("get: an epoch with other owners ends the background repairs of the old ones") {
  DataEnv env;
  env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, "");
  env.sent.clear();
  env.set_view(2, true, {.replication = 2, .first_member = 1});
  CHECK(env.context.deadlines.size() == 0);
  env.reply_read(3, operation, new_record());
  CHECK(env.sent.empty());
}

TEST_CASE("get: a doubled old reply is not written back to twice") {
  DataEnv env;
  env.store("k", new_record());
  env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, old_record());
  env.reply_read(2, operation, old_record());
  CHECK(env.sent_to(2) == 1);
  CHECK(env.context.metrics.read_repairs == 1);
}

TEST_CASE("get: when write-backs fail at all that could hold it, the error does not wait") {
  DataEnv env;
  const RequestId get = env.get("k");
  const uint64_t operation = env.take_read(2).operation();
  env.fail_storage();  // the own disk
  env.reply_read(2, operation, old_record());
  env.reply_read(3, operation, new_record());
  env.reply_merge(2, env.take_merge(2).operation(), pb::STORAGE_ERROR);
  CHECK(env.error(get, ErrorReply::kError).message.starts_with("storage failed: "));
}

TEST_CASE("get: a late reply that cannot be read is no hope for the write-back either") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  const uint64_t operation = env.take_read(2).operation();
  env.reply_read(2, operation, old_record());
  env.reply_read(3, operation, "", pb::STORAGE_ERROR);
  env.reply_merge(2, env.take_merge(2).operation(), pb::STORAGE_ERROR);
  env.error(get, ErrorReply::kError);
}

TEST_CASE("get: records that differ only in fields of a later version agree") {
  DataEnv env;
  env.store("k", new_record());
  std::string later = new_record();
  const size_t header_bytes = static_cast<uint8_t>(later[0]);
  later.insert(1 + header_bytes, "\xf8\x07\x01");  // field 127 = 1
  later[0] = static_cast<char>(header_bytes + 3);
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), later);
  CHECK(env.told(get) == "new");
  CHECK(env.context.metrics.read_repairs == 0);
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
  env.reply_read(3, operation, new_record());
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

TEST_CASE("get: a lost write-back is sent again") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), old_record());
  const pb::MergeRequest first = env.take_merge(2);
  env.wait_ms(250);
  const pb::MergeRequest second = env.take_merge(2);
  CHECK(second.SerializeAsString() == first.SerializeAsString());
  CHECK(env.context.metrics.read_repairs == 1);
  env.reply_merge(2, second.operation());
  CHECK(env.told(get) == "new");
}

TEST_CASE("get: a write-back that reaches no majority in time is no answer") {
  DataEnv env;
  env.store("k", new_record());
  const RequestId get = env.get("k");
  env.run_storage();
  env.reply_read(2, env.take_read(2).operation(), old_record());
  env.wait_ms(5000);
  env.error(get, ErrorReply::kTimeout);
}

}  // namespace
}  // namespace torc::node
