#include "daemon/node/put_operation.h"

#include <doctest/doctest.h>

#include "data_env.h"

namespace torc::node {
namespace {

using storage::Hlc;
using storage::RecordView;

constexpr Level kAll{.kind = Level::kAll, .count = 0};
constexpr Level kTwo{.kind = Level::kCount, .count = 2};

storage::Version version_of(const pb::MergeRequest& merge) {
  return RecordView::parse(merge.record()).value().version;
}

TEST_CASE("put: a silent replica is sent the same again, until the deadline") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  env.run_storage();
  const pb::MergeRequest first = env.take_merge(2);
  env.wait_ms(240);
  CHECK(env.sent_to(2) == 0);
  env.wait_ms(20);
  const pb::MergeRequest second = env.take_merge(2);
  CHECK(second.SerializeAsString() == first.SerializeAsString());
  CHECK(env.submitted.empty());  // the own disk has answered
  env.wait_ms(500);
  CHECK(env.sent_to(2) == 1);
  env.wait_ms(1000);
  CHECK(env.sent_to(2) == 2);
  env.reply_merge(2, first.operation());
  CHECK(env.reply<PutReply>(put) != nullptr);
  env.sent.clear();
  env.wait_ms(10'000);
  CHECK(env.sent.empty());
}

TEST_CASE("put: while the own disk is slow it is not given the same work again") {
  DataEnv env;
  env.put("k", "v");
  env.wait_ms(4000);
  CHECK(env.submitted.size() == 1);
}

TEST_CASE("put: a replica that comes back in time is sent the write") {
  DataEnv env;
  env.set_liveness(3, pb::DEAD);
  const RequestId put = env.put("k", "v", kTwo);
  env.run_storage();
  env.set_liveness(2, pb::DEAD);
  env.wait_ms(300);
  CHECK(env.sent_to(3) == 0);
  env.set_liveness(3, pb::ALIVE);
  env.wait_ms(600);
  env.reply_merge(3, env.take_merge(3).operation());
  CHECK(env.reply<PutReply>(put) != nullptr);
}

TEST_CASE("put: when STALE replicas leave no majority, it goes again above their version") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const pb::MergeRequest first = env.take_merge(2);
  env.sent.clear();
  env.run_storage();
  const uint64_t far = Hlc::from_ms(DataEnv::kStartWallMs + 20'000);
  env.reply_merge(2, first.operation(), pb::STALE, version_at(far, 3));
  CHECK(env.sent.empty());  // n3 may still agree
  env.reply_merge(3, first.operation(), pb::STALE, version_at(far + 1, 3));

  const pb::MergeRequest second = env.take_merge(2);
  CHECK(version_of(second).hlc > far + 1);
  CHECK(RecordView::parse(second.record())->value == "v");
  CHECK(second.operation() != first.operation());
  CHECK(env.context.metrics.stale_retries == 1);

  // A fresh tally: the own acknowledgement of the first version does not count.
  env.reply_merge(2, second.operation());
  CHECK_FALSE(env.answered(put));
  env.run_storage();
  CHECK(env.reply<PutReply>(put) != nullptr);
  CHECK(env.stored("k") == second.record());
}

TEST_CASE("put: one STALE replica is outvoted by a majority that stored the version") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t operation = env.take_merge(2).operation();
  env.run_storage();
  env.reply_merge(2, operation, pb::STALE, version_at(UINT64_MAX >> 1, 3));
  env.reply_merge(3, operation);
  CHECK(env.reply<PutReply>(put) != nullptr);
  CHECK(env.context.metrics.stale_retries == 0);
}

TEST_CASE("put: it does not wait for a dead or silent replica to outvote a STALE one") {
  DataEnv env;
  SUBCASE("dead") {
    env.set_liveness(3, pb::DEAD);
    env.put("k", "v");
    env.run_storage();
    env.reply_merge(2, env.take_merge(2).operation(), pb::STALE, version_at(9, 3));
  }
  SUBCASE("found dead while it was waited for") {
    env.put("k", "v");
    env.run_storage();
    env.set_liveness(3, pb::DEAD);
    env.reply_merge(2, env.take_merge(2).operation(), pb::STALE, version_at(9, 3));
  }
  SUBCASE("its stream broke") {
    env.put("k", "v");
    env.run_storage();
    env.reply_merge(2, env.take_merge(2).operation(), pb::STALE, version_at(9, 3));
    CHECK(env.context.metrics.stale_retries == 0);
    env.coordinator->on_peer_lost(peer_of(3));
  }
  SUBCASE("silent") {
    env.put("k", "v");
    env.run_storage();
    env.reply_merge(2, env.take_merge(2).operation(), pb::STALE, version_at(9, 3));
    env.wait_ms(249);
    CHECK(env.context.metrics.stale_retries == 0);
    env.wait_ms(1);
  }
  CHECK(env.context.metrics.stale_retries == 1);
  const pb::MergeRequest second = env.take_merge(2);
  env.run_storage();
  env.reply_merge(2, second.operation());
  CHECK(env.answers.size() == 1);
}

TEST_CASE(
    "put: a second attempt with too few alive waits for them, since the first may be stored") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  env.run_storage();
  env.reply_merge(2, env.take_merge(2).operation(), pb::STALE, version_at(9, 3));
  env.set_liveness(2, pb::DEAD);
  env.set_liveness(3, pb::DEAD);
  env.wait_ms(250);
  CHECK(env.context.metrics.stale_retries == 1);
  CHECK_FALSE(env.answered(put));
  env.wait_ms(4750);
  env.error(put, ErrorReply::kTimeout);
}

TEST_CASE("put: the words on an earlier attempt are ignored") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t first = env.take_merge(2).operation();
  env.reply_merge(2, first, pb::STALE, version_at(9, 2));
  env.reply_merge(3, first, pb::STALE, version_at(9, 2));
  env.submitted.clear();
  env.reply_merge(2, first);
  env.reply_merge(3, first);
  CHECK_FALSE(env.answered(put));
}

TEST_CASE("put: the words on a finished operation do not reach the next one in its place") {
  DataEnv env;
  const RequestId first = env.put("k", "v");
  const uint64_t first_operation = env.take_merge(2).operation();
  env.reply_merge(2, first_operation);
  env.reply_merge(3, first_operation);
  CHECK(env.answered(first));
  const RequestId second = env.put("k", "w");
  env.reply_merge(2, first_operation);
  env.reply_merge(3, first_operation);
  CHECK_FALSE(env.answered(second));
}

TEST_CASE("put: the words on a request from before a restart do not reach one from after it") {
  DataEnv before(3, 1);
  DataEnv after(3, 5);
  before.put("k", "v");
  const RequestId put = after.put("k", "v");
  const uint64_t old_operation = before.take_merge(2).operation();
  after.reply_merge(2, old_operation);
  after.reply_merge(3, old_operation);
  CHECK_FALSE(after.answered(put));
}

TEST_CASE("put: a replica that refuses as BUSY or AHEAD is asked again soon, once") {
  for (const pb::ReplicaStatus status : {pb::BUSY, pb::AHEAD}) {
    DataEnv env;
    const RequestId put = env.put("k", "v");
    env.run_storage();
    const pb::MergeRequest first = env.take_merge(2);
    env.sent.clear();
    env.reply_merge(2, first.operation(), status);
    env.wait_ms(19);
    CHECK(env.sent.empty());
    env.wait_ms(1);
    CHECK(env.take_merge(2).operation() == first.operation());
    env.reply_merge(2, first.operation(), status);
    env.wait_ms(249);
    CHECK(env.sent_to(2) == 0);
    env.wait_ms(1);
    CHECK(env.sent_to(2) == 1);
    env.reply_merge(2, first.operation());
    CHECK(env.reply<PutReply>(put) != nullptr);
    CHECK(env.behind_told.empty());
  }
}

TEST_CASE(
    "put: when a replica knows a newer epoch, it is fetched and the owners there are asked anew") {
  DataEnv env;
  const RequestId put = env.put("k", "v", kAll);
  env.run_storage();
  const pb::MergeRequest first = env.take_merge(2);
  env.peer_epoch = 2;
  env.reply_merge(2, first.operation(), pb::BEHIND);
  REQUIRE(env.behind_told.size() == 1);
  CHECK(env.behind_told[0] == std::pair(peer_of(2), uint64_t{2}));
  env.sent.clear();

  env.set_view(2, true, {.replication = 2, .first_member = 1});
  const auto owners = env.context.view->owners(env.context.view->partition_of("k"));
  REQUIRE(owners.size() == 2);
  for (int m = 2; m <= 3; ++m) {
    const bool owns = owners[0] == id_of(m) || owners[1] == id_of(m);
    CHECK(env.sent_to(m) == (owns ? 1 : 0));
    if (!owns) continue;
    const pb::MergeRequest second = env.take_merge(m);
    CHECK(second.epoch() == 2);
    CHECK(second.operation() != first.operation());
    CHECK(second.record() == first.record());  // the same write, so the same version
    env.reply_merge(m, first.operation());     // an old acknowledgement
    CHECK_FALSE(env.answered(put));
    env.reply_merge(m, second.operation());
  }
  env.run_storage();
  CHECK(env.reply<PutReply>(put) != nullptr);
}

TEST_CASE("put: an epoch that leaves the key's owners alone disturbs nothing") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const uint64_t operation = env.take_merge(2).operation();
  env.sent.clear();
  env.reply_merge(2, operation);
  env.set_view(2, true);
  CHECK(env.sent.empty());
  env.run_storage();
  CHECK(env.reply<PutReply>(put) != nullptr);
}

TEST_CASE("put: owners that changed and came back between two epochs are asked anew") {
  DataEnv env;
  const RequestId put = env.put("k", "v");
  const pb::MergeRequest first = env.take_merge(2);
  env.sent.clear();
  env.set_view(2, true, {.replication = 2, .first_member = 1, .is_told = false});
  env.set_view(3, true);
  const pb::MergeRequest second = env.take_merge(2);
  CHECK(second.epoch() == 3);
  env.reply_merge(2, first.operation());
  env.reply_merge(3, first.operation());
  CHECK_FALSE(env.answered(put));
  env.reply_merge(2, second.operation());
  env.reply_merge(3, second.operation());
  CHECK(env.answered(put));
}

TEST_CASE("put: NOT_OWNER from a newer epoch fetches it too") {
  DataEnv env;
  env.put("k", "v");
  env.peer_epoch = 5;
  env.reply_merge(3, env.take_merge(3).operation(), pb::NOT_OWNER);
  REQUIRE(env.behind_told.size() == 1);
  CHECK(env.behind_told[0] == std::pair(peer_of(3), uint64_t{5}));
}

TEST_CASE("put: before writes are open it asks for the epoch that opens them, and waits") {
  DataEnv env;
  env.set_view(2, false);
  const RequestId put = env.put("k", "v");
  CHECK(env.open_writes_asked == 1);
  CHECK(env.sent.empty());
  CHECK(env.submitted.empty());
  env.wait_ms(250);
  CHECK(env.open_writes_asked == 2);
  env.set_view(3, true);
  env.run_storage();
  env.reply_merge(2, env.take_merge(2).operation());
  CHECK(env.reply<PutReply>(put) != nullptr);
}

TEST_CASE("put: when writes do not open in time it is UNAVAILABLE, for nothing was sent") {
  DataEnv env;
  env.set_view(2, false);
  const RequestId put = env.put("k", "v");
  env.wait_ms(5000);
  CHECK(env.error(put, ErrorReply::kUnavailable).message.find("open") != std::string::npos);
}

TEST_CASE("put: while the clock's ceiling is being raised it waits, and then goes on") {
  DataEnv env;
  env.context.hlc.observe(Hlc::from_ms(DataEnv::kStartWallMs + 100'000));
  const RequestId first = env.put("k", "v");
  const RequestId second = env.put("k", "w");
  CHECK(env.sent.empty());
  CHECK(env.submitted.size() == 1);
  env.run_storage();
  const pb::MergeRequest of_second = env.take_merge(2);
  const pb::MergeRequest of_first = env.take_merge(2);
  CHECK(version_of(of_first) < version_of(of_second));
  env.reply_merge(2, of_first.operation());
  env.reply_merge(2, of_second.operation());
  CHECK(env.reply<PutReply>(first) != nullptr);
  CHECK(env.reply<PutReply>(second) != nullptr);
}

TEST_CASE("put: a disk that refuses the ceiling is asked again until the deadline") {
  DataEnv env;
  env.context.hlc.observe(Hlc::from_ms(DataEnv::kStartWallMs + 100'000));
  const RequestId put = env.put("k", "v");
  env.fail_storage();
  env.wait_ms(250);
  CHECK(env.submitted.size() == 1);
  env.fail_storage();
  env.wait_ms(4750);
  CHECK(env.error(put, ErrorReply::kUnavailable).message.find("clock") != std::string::npos);
  CHECK(env.sent.empty());
}

TEST_CASE("put: owners that change while it waits for the clock are the ones it addresses") {
  DataEnv env;
  env.context.hlc.observe(Hlc::from_ms(DataEnv::kStartWallMs + 100'000));
  env.put("k", "v");
  env.set_view(2, true, {.replication = 2, .first_member = 1});
  env.run_storage();
  size_t merges = 0;
  for (const auto& sent : env.sent) {
    CHECK(sent.message.merge().epoch() == 2);
    ++merges;
  }
  const auto owners = env.context.view->owners(env.context.view->partition_of("k"));
  CHECK(merges == 2 - static_cast<size_t>(std::count(owners.begin(), owners.end(), id_of(1))));
}

}  // namespace
}  // namespace torc::node
