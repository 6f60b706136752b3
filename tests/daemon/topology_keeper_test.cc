#include "daemon/node/topology_keeper.h"

#include <doctest/doctest.h>

#include "daemon/node/identity.h"
#include "daemon/node/identity.pb.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

// n2, a member of epoch 2, hears of other epochs.
struct KeeperBench : Bench {
  KeeperBench() : Bench(2) { context.view = epoch2; }

  void hear(const ClusterView& view, uint32_t from = 1) {
    keeper.on_record(record_message(from, view));
  }
  void wait(Duration by) {
    advance(by, [this](const Deadlines::Due& due) { keeper.on_deadline(due.cookie); });
  }
  size_t pulls() {
    size_t count = 0;
    for (const auto& sent : env.take_sent()) count += sent.message.has_topology_pull();
    return count;
  }

  std::shared_ptr<const ClusterView> epoch2 = joined(*founded(), {2, 3});
  std::shared_ptr<const ClusterView> epoch3 = opened(*epoch2);
  std::shared_ptr<const ClusterView> epoch4 = opened(*epoch3);
  TopologyKeeper keeper{context};
};

TEST_CASE("topology keeper: a new epoch is acted on only after it is durable") {
  KeeperBench bench;
  bench.hear(*bench.epoch3);
  CHECK(bench.context.view == bench.epoch2);
  REQUIRE(bench.env.submitted.size() == 1);
  const auto write = std::get<storage::WriteMeta>(bench.env.submitted[0].op);
  REQUIRE(write.values.size() == 1);
  CHECK(write.values[0].first == "topology");
  pb::TopologyRecord stored;
  REQUIRE(stored.ParseFromString(write.values[0].second));
  CHECK(stored.body() == bench.epoch3->topology().record().body());

  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 3);
}

TEST_CASE("topology keeper: an epoch known already, or older, is not stored again") {
  KeeperBench bench;
  bench.hear(*bench.epoch2);
  bench.hear(*founded());
  CHECK(bench.env.submitted.empty());
  bench.hear(*bench.epoch3);
  bench.hear(*bench.epoch3, 3);
  CHECK(bench.env.submitted.size() == 1);
  CHECK(!bench.keeper.forked());
}

TEST_CASE(
    "topology keeper: of the epochs that come while one is being stored only the newest is next") {
  KeeperBench bench;
  const auto epoch5 = opened(*bench.epoch4);
  bench.hear(*bench.epoch3);
  bench.hear(*bench.epoch4);
  bench.hear(*epoch5);
  CHECK(bench.env.submitted.size() == 1);
  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 3);
  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 5);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE(
    "topology keeper: another topology under our epoch stops topology work, and an alarm tells") {
  KeeperBench bench;
  bench.hear(*joined(*founded(), {2, 4}));
  CHECK(bench.keeper.forked());
  REQUIRE(bench.context.alarms.size() == 1);
  CHECK(bench.context.alarms[0].find("two topologies of epoch 2") != std::string::npos);
  bench.hear(*bench.epoch3);
  bench.keeper.behind(peer_of(1), 9);
  CHECK(bench.env.submitted.empty());
  CHECK(bench.pulls() == 0);
  CHECK(bench.context.view == bench.epoch2);
}

TEST_CASE("topology keeper: a gossiped digest that differs under our epoch is a fork as well") {
  KeeperBench bench;
  bench.keeper.on_word(peer_of(1), 2, bench.epoch2->digest());
  CHECK(!bench.keeper.forked());
  bench.keeper.on_word(peer_of(1), 2, bench.epoch2->digest() + 1);
  CHECK(bench.keeper.forked());
}

TEST_CASE("topology keeper: the next epoch must follow ours by its digest") {
  KeeperBench bench;
  const auto other2 = joined(*founded(), {2, 3, 4});
  bench.hear(*opened(*other2));
  CHECK(bench.keeper.forked());
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("topology keeper: a ring that the policy would not give is adopted with an alarm") {
  KeeperBench bench;
  pb::TopologyBody body = bench.epoch2->topology().next_body();
  body.set_ring(founded()->topology().body().ring());  // n1 alone owns all
  bench.hear(*view_of(membership::Topology::seal(body)));
  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 3);
  REQUIRE(bench.context.alarms.size() == 1);
  CHECK(bench.context.alarms[0].find("ring of epoch 3") != std::string::npos);
  CHECK(!bench.keeper.forked());
}

TEST_CASE("topology keeper: records that are damaged or of another cluster are ignored") {
  KeeperBench bench;
  pb::Envelope damaged = Bench::record_message(1, *bench.epoch3);
  damaged.mutable_topology()->mutable_body()->push_back('x');
  bench.keeper.on_record(damaged);
  bench.hear(*opened(*joined(*founded(78), {2, 3})));
  CHECK(bench.env.submitted.empty());
  CHECK(bench.env.logged_at(LogLevel::kWarning) == 2);
  CHECK(!bench.keeper.forked());
}

TEST_CASE("topology keeper: a newcomer takes the topology that names it, with its cluster id") {
  KeeperBench bench;
  bench.context.view = nullptr;
  bench.hear(*joined(*founded(), {3}));
  CHECK(bench.env.submitted.empty());

  bench.hear(*bench.epoch2);
  REQUIRE(bench.env.submitted.size() == 1);
  const auto write = std::get<storage::WriteMeta>(bench.env.submitted[0].op);
  REQUIRE(write.values.size() == 2);
  CHECK(write.values[1].first == "identity");
  pb::Identity identity;
  REQUIRE(identity.ParseFromString(write.values[1].second));
  CHECK(identity.node_id() == id_of(2).value);
  CHECK(identity.cluster_id() == 77);
  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 2);
}

TEST_CASE("topology keeper: whoever is behind pulls, from one daemon at a time") {
  KeeperBench bench;
  bench.keeper.on_word(peer_of(1), 4, 1);
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(1));
  CHECK(bench.env.sent[0].channel == Channel::kStream);
  CHECK(bench.env.sent[0].message.topology_pull().known_epoch() == 2);
  CHECK(bench.pulls() == 1);

  bench.keeper.behind(peer_of(3), 4);
  CHECK(bench.pulls() == 0);
  SUBCASE("silence sends it to the other one") {
    bench.wait(TopologyKeeper::kPullTimeout);
    REQUIRE(bench.env.sent.size() == 1);
    CHECK(bench.env.sent[0].to == peer_of(3));
    CHECK(bench.pulls() == 1);
    bench.wait(10 * TopologyKeeper::kPullTimeout);
    CHECK(bench.pulls() == 0);
  }
  SUBCASE("an answer ends it") {
    bench.hear(*bench.epoch4);
    CHECK(bench.keeper.on_storage_done(bench.written()));
    CHECK(bench.context.view->epoch() == 4);
    bench.wait(10 * TopologyKeeper::kPullTimeout);
    CHECK(bench.pulls() == 0);
  }
}

TEST_CASE("topology keeper: nobody pulls what is known, or on its way to the disk") {
  KeeperBench bench;
  bench.keeper.behind(peer_of(1), 2);
  bench.hear(*bench.epoch3);
  bench.keeper.behind(peer_of(1), 3);
  CHECK(bench.pulls() == 0);
}

TEST_CASE("topology keeper: a pull is answered with the record when it is news") {
  KeeperBench bench;
  pb::Envelope question = Bench::message(3);
  question.mutable_topology_pull()->set_known_epoch(2);
  bench.keeper.on_pull(question);
  CHECK(bench.env.sent.empty());
  question.mutable_topology_pull()->set_known_epoch(1);
  bench.keeper.on_pull(question);
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(3));
  CHECK(bench.env.sent[0].message.topology().digest() == bench.epoch2->digest());
}

TEST_CASE("topology keeper: a disk that refuses is asked again") {
  KeeperBench bench;
  bench.hear(*bench.epoch3);
  CHECK(!bench.keeper.on_storage_done(bench.refused()));
  CHECK(bench.context.view == bench.epoch2);
  CHECK(bench.env.submitted.empty());
  bench.wait(TopologyKeeper::kStoreRetry);
  CHECK(bench.keeper.on_storage_done(bench.written()));
  CHECK(bench.context.view->epoch() == 3);
}

TEST_CASE("topology keeper: a daemon that is no longer a member stops") {
  KeeperBench bench;
  const auto removed = [&] {
    pb::TopologyBody body = bench.epoch2->topology().next_body();
    body.mutable_members(1)->set_role(pb::REMOVED);
    const auto ring = claim(&bench.epoch2->ring(), body);
    body.set_ring(ring->encode());
    return view_of(membership::Topology::seal(body));
  }();
  SUBCASE("when it hears of it") {
    bench.hear(*removed);
    CHECK(!bench.keeper.on_storage_done(bench.written()));
  }
  SUBCASE("when it finds so at its start") {
    bench.context.view = nullptr;
    CHECK(!bench.keeper.resume(removed->topology().record()));
  }
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kRefused);
}

TEST_CASE("topology keeper: a stored record resumes, a damaged one stops the daemon") {
  KeeperBench bench;
  bench.context.view = nullptr;
  pb::TopologyRecord record = bench.epoch2->topology().record();
  CHECK(bench.keeper.resume(record));
  CHECK(bench.context.view->epoch() == 2);
  record.mutable_body()->back() ^= 1;
  CHECK(!bench.keeper.resume(record));
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kFailed);
}

}  // namespace
}  // namespace torc::node
