#include "daemon/node/gossip_link.h"

#include <doctest/doctest.h>

#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

struct LinkBench : Bench {
  LinkBench() : Bench(1) { adopt(founded()); }

  void adopt(std::shared_ptr<const ClusterView> view) {
    const auto before = std::exchange(context.view, std::move(view));
    link.on_view_changed(before.get(), 3);
  }
  // A push-pull from a member that tells of itself.
  pb::Envelope greeting(uint32_t from, uint64_t epoch, uint64_t digest) {
    pb::Envelope message = Bench::message(from);
    pb::PushPull& state = *message.mutable_push_pull();
    state.set_topology_epoch(epoch);
    state.set_topology_digest(digest);
    pb::MemberState& self = *state.add_members();
    self.set_id(id_of(from).value);
    self.set_name("n" + std::to_string(from));
    self.set_peer(peer_of(from).to_bytes());
    self.set_client(client_of(from).to_bytes());
    self.set_incarnation(uint64_t{1} << 32);
    return message;
  }
  bool was_logged(std::string_view words) {
    for (const auto& [level, text] : env.logged) {
      if (text == words) return true;
    }
    return false;
  }

  TopologyKeeper keeper{context};
  Twin twin{context};
  GossipLink link{context, keeper, twin};
};

TEST_CASE("gossip link: incarnations start from the restart counter") {
  LinkBench bench;
  REQUIRE(bench.context.gossip != nullptr);
  CHECK(bench.context.gossip->self().incarnation == uint64_t{3} << 32);
}

TEST_CASE(
    "gossip link: members of a new view are dialled, and forgotten when a later one drops them") {
  LinkBench bench;
  bench.env.take_sent();
  bench.adopt(joined(*bench.context.view, {2}));
  REQUIRE(bench.context.gossip->find(id_of(2)) != nullptr);
  CHECK(bench.context.liveness_of(id_of(2)) == membership::Liveness::kDead);

  bool dialled = false;
  for (int i = 0; i < 20; ++i) {
    bench.context.now.at += std::chrono::milliseconds(100);
    bench.link.on_time();
  }
  for (const auto& sent : bench.env.take_sent()) dialled = dialled || sent.to == peer_of(2);
  CHECK(dialled);

  pb::TopologyBody body = bench.context.view->topology().next_body();
  body.mutable_members(1)->set_role(pb::REMOVED);
  body.set_ring(claim(nullptr, body)->encode());
  bench.adopt(view_of(membership::Topology::seal(body)));
  CHECK(bench.context.gossip->find(id_of(2)) == nullptr);
}

TEST_CASE("gossip link: people are told once when a member's liveness changes") {
  LinkBench bench;
  bench.adopt(joined(*bench.context.view, {2}));
  bench.env.logged.clear();
  const pb::Envelope hello = bench.greeting(2, 2, bench.context.view->digest());
  bench.link.on_push_pull(hello);
  bench.link.on_push_pull(hello);
  CHECK(bench.was_logged("n2 is alive"));
  CHECK(bench.env.logged.size() == 1);
  CHECK(bench.context.liveness_of(id_of(2)) == membership::Liveness::kAlive);

  NodeMetrics metrics;
  bench.link.count_members(metrics);
  CHECK(metrics.members_alive == 2);
  CHECK(metrics.members_dead == 0);
}

TEST_CASE("gossip link: people are not told of strangers, but of one who becomes a member") {
  LinkBench bench;
  bench.env.logged.clear();
  for (uint32_t stranger = 2; stranger < 200; ++stranger) {
    bench.link.on_push_pull(bench.greeting(stranger, 1, bench.context.view->digest()));
  }
  CHECK(bench.env.logged.empty());
  REQUIRE(bench.context.liveness_of(id_of(2)) == membership::Liveness::kAlive);
  bench.adopt(joined(*bench.context.view, {2}));
  CHECK(bench.was_logged("n2 is alive"));
}

TEST_CASE(
    "gossip link: packets leave as datagrams, push-pulls on the stream, both with our epoch") {
  LinkBench bench;
  bench.adopt(joined(*bench.context.view, {2}));
  bench.link.on_push_pull(bench.greeting(2, 2, bench.context.view->digest()));
  for (int i = 0; i < 30; ++i) {
    bench.context.now.at += std::chrono::milliseconds(100);
    bench.link.on_time();
  }
  size_t packets = 0;
  size_t push_pulls = 0;
  for (const auto& sent : bench.env.take_sent()) {
    if (sent.message.has_gossip()) {
      ++packets;
      CHECK(sent.channel == Channel::kDatagram);
      CHECK(sent.message.gossip().topology_epoch() == 2);
      CHECK(sent.message.gossip().topology_digest() == bench.context.view->digest());
    } else if (sent.message.has_push_pull()) {
      ++push_pulls;
      CHECK(sent.channel == Channel::kStream);
      CHECK(sent.message.push_pull().topology_epoch() == 2);
    }
  }
  CHECK(packets > 0);
  CHECK(push_pulls > 0);
}

TEST_CASE("gossip link: a member that tells of a newer epoch is asked for it") {
  LinkBench bench;
  bench.adopt(joined(*bench.context.view, {2}));
  bench.env.take_sent();
  bench.link.on_push_pull(bench.greeting(2, 7, 1));
  size_t pulls = 0;
  for (const auto& sent : bench.env.take_sent()) pulls += sent.message.has_topology_pull();
  CHECK(pulls == 1);

  pb::Envelope packet = Bench::message(2);
  packet.mutable_gossip()->set_topology_epoch(2);
  packet.mutable_gossip()->set_topology_digest(bench.context.view->digest() + 1);
  bench.link.on_packet(packet);
  CHECK(bench.keeper.forked());
}

TEST_CASE("gossip link: good-bye reaches the others before it returns") {
  LinkBench bench;
  bench.adopt(joined(*bench.context.view, {2}));
  bench.link.on_push_pull(bench.greeting(2, 2, bench.context.view->digest()));
  bench.env.take_sent();
  bench.link.leave();
  CHECK(!bench.env.sent.empty());
}

}  // namespace
}  // namespace torc::node
