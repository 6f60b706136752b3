#include "daemon/node/put_operation.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;
using storage::RecordView;

constexpr Level kOne{.kind = Level::kOne, .count = 0};
constexpr Level kAll{.kind = Level::kAll, .count = 0};
constexpr Level count_of(uint8_t count) {
  return {.kind = Level::kCount, .count = count};
}

TEST_CASE(
    "put: one version goes to every owner, and a majority that has it durably is the answer") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const pb::MergeRequest to2 = env.take_merge(2);
  const pb::MergeRequest to3 = env.take_merge(3);
  CHECK(to2.SerializeAsString() == to3.SerializeAsString());
  CHECK(to2.key() == "k");
  CHECK(to2.epoch() == 1);
  CHECK(to2.partition() == env.context.view->partition_of("k"));
  const auto record = RecordView::parse(to2.record());
  REQUIRE(record.has_value());
  CHECK(record->value == "v");
  CHECK(record->version.node == id_of(1));
  CHECK(record->version.hlc >= Hlc::from_ms(DataEnv::kStartWallMs));

  CHECK_FALSE(env.answered(put));
  env.run_storage();
  CHECK_FALSE(env.answered(put));
  CHECK(env.stored("k") == to2.record());
  env.reply_merge(3, to3.operation());
  REQUIRE(env.reply<PutReply>(put) != nullptr);
  CHECK_FALSE(env.reply<PutReply>(put)->existed);
  CHECK(env.coordinator->running() == 0);
  CHECK(env.context.deadlines.size() == 0);
  CHECK(env.context.metrics.puts == 1);
}

TEST_CASE("put: the coordinator's own copy counts no more than any other") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t operation = env.take_merge(2).operation();
  env.reply_merge(2, operation);
  CHECK_FALSE(env.answered(put));
  env.reply_merge(3, operation);
  CHECK(env.answered(put));
  env.run_storage();  // the late local word is nobody's
  CHECK(env.answers.size() == 1);
}

TEST_CASE("put: one replica's word counts once, however often it comes") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t operation = env.take_merge(2).operation();
  env.reply_merge(2, operation);
  env.reply_merge(2, operation);
  CHECK_FALSE(env.answered(put));
}

TEST_CASE("put: a word from somebody who owns nothing of the key does not count") {
  DataEnv env(4);
  const std::string key = env.key_owned_by({1, 2, 3});
  const RequestId put = env.put(key, "v");
  env.run_storage();
  env.reply_merge(4, env.take_merge(2).operation());
  CHECK_FALSE(env.answered(put));
}

TEST_CASE("put: a coordinator that does not own the key sends to those who do") {
  DataEnv env(4);
  const RequestId put = env.put(env.key_owned_by({2, 3, 4}), "v");
  CHECK(env.submitted.empty());
  const uint64_t operation = env.take_merge(4).operation();
  env.reply_merge(4, operation);
  env.reply_merge(2, operation);
  CHECK(env.reply<PutReply>(put) != nullptr);
}

TEST_CASE("put: levels one, all and a number need so many replicas") {
  DataEnv env;
  const RequestId one = env.put("k", "v", kOne);
  const RequestId two = env.put("k", "v", count_of(2));
  const RequestId all = env.put("k", "v", kAll);
  const uint64_t of_all = env.take_merge(2).operation();
  const uint64_t of_two = env.take_merge(2).operation();
  env.run_storage();
  CHECK(env.answered(one));
  CHECK_FALSE(env.answered(two));
  env.reply_merge(2, of_two);
  CHECK(env.answered(two));
  env.reply_merge(2, of_all);
  CHECK_FALSE(env.answered(all));
  env.reply_merge(3, of_all);
  CHECK(env.answered(all));
}

TEST_CASE("put: a level above the number of replicas is an error, and nothing is sent") {
  DataEnv env;
  const RequestId put = env.put("k", "v", count_of(4));
  CHECK(env.error(put, ErrorReply::kError).message.find("level 4") != std::string::npos);
  env.error(env.put("k", "v", count_of(0)), ErrorReply::kError);
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
}

TEST_CASE("put: too few replicas alive is UNAVAILABLE at once, and says who is missing") {
  DataEnv env;
  env.set_liveness(2, pb::DEAD);
  env.set_liveness(3, pb::DEAD);
  const RequestId put = env.put("k", "v");
  const ErrorReply& error = env.error(put, ErrorReply::kUnavailable);
  CHECK(error.message.find("needs 2 of 3") != std::string::npos);
  CHECK(error.message.find("n2") != std::string::npos);
  CHECK(error.message.find("n3") != std::string::npos);
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
  CHECK(env.context.metrics.unavailable == 1);
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("put: a suspect is asked like anybody else, the dead are not") {
  DataEnv env;
  env.set_liveness(2, pb::SUSPECT);
  env.set_liveness(3, pb::DEAD);
  const RequestId put = env.put("k", "v");
  CHECK(env.sent_to(3) == 0);
  env.run_storage();
  env.reply_merge(2, env.take_merge(2).operation());
  CHECK(env.answered(put));
}

TEST_CASE("put: at the deadline the outcome is unknown, and the reply says who answered") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  env.run_storage();
  env.wait_ms(4999);
  CHECK_FALSE(env.answered(put));
  env.wait_ms(1);
  const ErrorReply& error = env.error(put, ErrorReply::kTimeout);
  CHECK(error.message.starts_with("outcome unknown: n1 answered, "));
  CHECK(error.message.ends_with(" did not"));
  CHECK(env.context.metrics.timeouts == 1);
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("put: replicas whose storage fails make the outcome unknown without waiting") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t operation = env.take_merge(2).operation();
  env.fail_storage();
  CHECK_FALSE(env.answered(put));
  env.reply_merge(2, operation, pb::STORAGE_ERROR);
  const ErrorReply& error = env.error(put, ErrorReply::kTimeout);
  CHECK(error.message.find("failed") != std::string::npos);
  CHECK(error.message.find("n3 did not") != std::string::npos);
}

TEST_CASE("put: a deletion says whether any replica, in any attempt, held a live value") {
  DataEnv env;
  env.store("k", record_of("v", version_at(5, 3)));
  const RequestId put = env.remove("k");
  const pb::MergeRequest first = env.take_merge(2);
  CHECK(RecordView::parse(first.record())->tombstone);
  env.reply_merge(2, first.operation(), pb::STALE,
                  version_at(Hlc::from_ms(DataEnv::kStartWallMs + 9000), 2), true);
  env.reply_merge(3, first.operation(), pb::STALE, version_at(6, 2));
  const pb::MergeRequest second = env.take_merge(2);
  env.reply_merge(2, second.operation());
  env.reply_merge(3, second.operation());
  REQUIRE(env.reply<PutReply>(put) != nullptr);
  CHECK(env.reply<PutReply>(put)->existed);
}

TEST_CASE("put: deleting what is not there says so") {
  DataEnv env;
  const RequestId put = env.remove("k");
  env.run_storage();
  env.reply_merge(2, env.take_merge(2).operation());
  REQUIRE(env.reply<PutReply>(put) != nullptr);
  CHECK_FALSE(env.reply<PutReply>(put)->existed);
}

TEST_CASE("put: an expiry applies to the version it came with, a put without one writes none") {
  DataEnv env;
  const auto record_after = [&](std::optional<int64_t> in_ms, std::optional<int64_t> at_ms) {
    env.put(PutRequest{.key = "k",
                       .value = "v",
                       .tombstone = false,
                       .expires_in_ms = in_ms,
                       .expires_at_ms = at_ms,
                       .level = {}});
    return env.take_merge(2).record();
  };
  const std::string plain = record_after({}, {});
  CHECK(RecordView::parse(plain)->expiry == storage::Expiry{});

  const std::string in_a_second = record_after(1000, {});
  const auto view = RecordView::parse(in_a_second).value();
  CHECK(view.expiry.version == view.version);
  CHECK(view.expiry.of == view.version);
  CHECK(Hlc::to_ms(view.expiry.expires_at) == DataEnv::kStartWallMs + 1000);

  const std::string at = record_after({}, DataEnv::kStartWallMs + 77);
  CHECK(RecordView::parse(at)->expiry.expires_at == Hlc::from_ms(DataEnv::kStartWallMs + 77));

  // Times out of range are cut, and the past is never "never".
  for (const int64_t past : {int64_t{0}, int64_t{-5}, INT64_MIN}) {
    const std::string record = record_after({}, past);
    CHECK_FALSE(RecordView::parse(record)->is_live(Hlc::from_ms(DataEnv::kStartWallMs)));
  }
  const std::string far = record_after(INT64_MAX, {});
  CHECK(RecordView::parse(far)->is_live(Hlc::from_ms(DataEnv::kStartWallMs) * 2));
}

TEST_CASE("put: a second attempt keeps the expiry's time and binds it to the new version") {
  DataEnv env;
  env.put(PutRequest{.key = "k",
                     .value = "v",
                     .tombstone = false,
                     .expires_in_ms = 60'000,
                     .expires_at_ms = {},
                     .level = {}});
  const pb::MergeRequest first = env.take_merge(2);
  env.reply_merge(2, first.operation(), pb::STALE,
                  version_at(Hlc::from_ms(DataEnv::kStartWallMs + 9000), 2));
  env.reply_merge(3, first.operation(), pb::STALE, version_at(6, 2));
  const pb::MergeRequest second = env.take_merge(2);
  const auto before = RecordView::parse(first.record()).value();
  const auto after = RecordView::parse(second.record()).value();
  CHECK(after.version > before.version);
  CHECK(after.value == "v");
  CHECK(after.expiry.of == after.version);
  CHECK(after.expiry.expires_at == before.expiry.expires_at);
}

TEST_CASE("put: keys and values over the limits are refused before anything is done") {
  DataEnv env;
  env.error(env.put(std::string(kKeyBytesMax + 1, 'k'), "v"), ErrorReply::kTooBig);
  env.error(env.put("k", std::string(kValueBytesMax + 1, 'v')), ErrorReply::kTooBig);
  env.error(env.get(std::string(kKeyBytesMax + 1, 'k')), ErrorReply::kTooBig);
  CHECK(env.sent.empty());
  CHECK(env.coordinator->running() == 0);
}

TEST_CASE("put: it goes on without its client, who is not answered") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  env.run_storage();
  env.coordinator->on_client_lost(put);
  CHECK(env.coordinator->running() == 1);
  const uint64_t operation = env.take_merge(2).operation();
  env.wait_ms(250);
  CHECK(env.sent_to(2) == 1);
  env.reply_merge(2, operation);
  CHECK(env.coordinator->running() == 0);
  CHECK(env.answers.empty());
}

TEST_CASE("put: many at once are kept apart") {
  DataEnv env;
  std::vector<RequestId> puts;
  std::vector<uint64_t> operations;
  for (int i = 0; i < 100; ++i) {
    puts.push_back(env.put("k" + std::to_string(i), "v"));
    operations.push_back(env.take_merge(2).operation());
  }
  CHECK(env.coordinator->running() == 100);
  for (size_t i = 0; i < 100; i += 2) {
    env.reply_merge(2, operations[i]);
    env.reply_merge(3, operations[i]);
  }
  for (size_t i = 0; i < 100; ++i) CHECK(env.answered(puts[i]) == (i % 2 == 0));
  CHECK(env.coordinator->running() == 50);
}

}  // namespace
}  // namespace torc::node
