#include "daemon/node/next_epoch.h"

#include <doctest/doctest.h>

#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

TEST_CASE("next epoch: a new cluster has its founder as the only member and is closed for writes") {
  const auto view = founded();
  const pb::TopologyBody& body = view->topology().body();
  CHECK(view->epoch() == 1);
  CHECK(body.cluster_id() == 77);
  CHECK(body.founder() == id_of(1).value);
  CHECK(body.members_size() == 1);
  CHECK(body.members(0).role() == pb::ACTIVE);
  CHECK(!view->writes_open());
  CHECK(body.parameters().request_timeout_ms_max() == 5000);
  CHECK(view->owners(17).front() == id_of(1));
}

TEST_CASE("next epoch: parameters that make no cluster are refused in words") {
  const auto refused = [](auto spoil) {
    Founding founding;
    founding.cluster_id = 77;
    founding.founder = member(1);
    founding.policy = "token-ring";
    spoil(founding);
    const auto topology = found_cluster(founding);
    return !topology && !topology.error().empty();
  };
  CHECK(!refused([](Founding&) {}));
  CHECK(refused([](Founding& f) { f.policy = "alphabetical"; }));
  CHECK(refused([](Founding& f) { f.partitions = 1000; }));
  CHECK(refused([](Founding& f) { f.partitions = 0; }));
  CHECK(refused([](Founding& f) { f.replication = 0; }));
  CHECK(refused([](Founding& f) { f.replication = 17; }));
}

TEST_CASE(
    "next epoch: joins share one epoch, ordered by id, and the chain names the epoch before") {
  const auto one = founded();
  const auto two = joined(*one, {3, 2});
  CHECK(two->epoch() == 2);
  CHECK(two->topology().body().previous_digest() == one->digest());
  REQUIRE(two->topology().body().members_size() == 3);
  for (int i = 0; i < 3; ++i) {
    CHECK(two->topology().body().members(i).id() == id_of(static_cast<uint32_t>(i + 1)).value);
    CHECK(two->topology().body().members(i).role() == pb::ACTIVE);
  }
  CHECK(joined(*one, {2, 3})->digest() == two->digest());
}

TEST_CASE("next epoch: opening for writes moves nothing") {
  const auto closed = joined(*founded(), {2, 3, 4});
  const auto open = opened(*closed);
  CHECK(open->writes_open());
  CHECK(open->epoch() == closed->epoch() + 1);
  CHECK(open->ring().placement_digest() == closed->ring().placement_digest());
  for (uint32_t partition = 0; partition < 64; ++partition) {
    CHECK(open->ring().changed_at(partition) == closed->ring().changed_at(partition));
  }
}

}  // namespace
}  // namespace torc::node
