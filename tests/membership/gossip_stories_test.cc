// Whole clusters of Gossip on a simulated network, each test a story.
#include <doctest/doctest.h>

#include "tests/membership/gossip_network.h"

namespace torc::membership {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Each story runs on a few networks.
template <typename Story>
void on_seeds(Story story) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    GossipNetwork network(seed);
    story(network);
  }
}

bool is_whole_within(GossipNetwork& network, Duration limit) {
  return network.run_until([&] { return network.whole(); }, limit);
}

}  // namespace

TEST_CASE("gossip: daemons that start together know each other within a second") {
  for (const size_t nodes : {2, 3, 10, 50}) {
    CAPTURE(nodes);
    GossipNetwork network(nodes);
    network.start_all(nodes);
    CHECK(is_whole_within(network, seconds(1)));
    network.run(seconds(1));
    network.clear_changes();
    network.run(seconds(60));
    CHECK(network.accused().empty());
    CHECK(network.packet_bytes_largest() <= GossipConfig{}.packet_bytes_max);
  }
}

TEST_CASE("gossip: in whatever order daemons start, they are whole a second after the last") {
  on_seeds([](GossipNetwork& network) {
    for (size_t i = 0; i < 5; ++i) network.add_node();
    for (const size_t node : {3, 0, 4, 1, 2}) {
      network.run(milliseconds(2700));
      network.start(node);
    }
    CHECK(is_whole_within(network, seconds(1)));
  });
}

TEST_CASE("gossip: several that start at once learn each other through one seed") {
  on_seeds([](GossipNetwork& network) {
    for (size_t i = 0; i < 8; ++i) network.add_node();
    network.start(0, {0});
    for (size_t i = 1; i < 8; ++i) network.start(i, {0});
    CHECK(is_whole_within(network, seconds(2)));
    CHECK(network[3].members().size() == 7);
    CHECK(network[3].find(GossipNetwork::id(6))->name == "n6");
  });
}

TEST_CASE(
    "gossip: a killed member is dead everywhere within ten seconds, and nobody else is accused") {
  for (const size_t nodes : {3, 10, 30}) {
    CAPTURE(nodes);
    GossipNetwork network(nodes);
    network.start_all(nodes);
    network.run(seconds(5));
    network.clear_changes();
    network.kill(1);
    CHECK(network.run_until([&] { return network.all_see(1, Liveness::kDead); }, seconds(10)));
    network.run(seconds(60));
    CHECK(network.all_see(1, Liveness::kDead));
    CHECK(network.accused() == std::set<size_t>{1});
  }
}

TEST_CASE("gossip: a member paused for a moment refutes the suspicion and is never dead") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(5);
    network.run(seconds(5));
    network.clear_changes();
    network.pause(2);
    network.run(milliseconds(3500));
    network.resume(2);
    CHECK(is_whole_within(network, seconds(5)));
    network.run(seconds(10));
    CHECK(network.whole());
    for (const auto& change : network.changes()) CHECK(change.member.liveness != Liveness::kDead);
  });
}

TEST_CASE("gossip: a member paused until it is dead refutes when it resumes, and accuses nobody") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(5);
    network.run(seconds(5));
    network.clear_changes();
    network.pause(2);
    network.run(seconds(25));
    CHECK(network.all_see(2, Liveness::kDead));
    network.resume(2);
    CHECK(is_whole_within(network, seconds(2)));
    network.run(seconds(30));
    CHECK(network.whole());
    CHECK(network.accused() == std::set<size_t>{2});
    CHECK(network[2].counters().refutations > 0);
  });
}

TEST_CASE(
    "gossip: a member restarted before anybody noticed is alive everywhere, at its new address") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(5);
    network.run(seconds(5));
    network.kill(4);
    network.move(4, 7999);
    network.start(4);
    CHECK(network.run_until(
        [&] {
          for (size_t i = 0; i < 4; ++i) {
            const MemberInfo* member = network[i].find(GossipNetwork::id(4));
            if (member->peer.port != 7999 || member->client.port != 8999) return false;
          }
          return network.whole();
        },
        seconds(2)));
    network.clear_changes();
    network.run(seconds(20));
    CHECK(network.accused().empty());
  });
}

TEST_CASE("gossip: a restarted member is alive everywhere within two seconds of its return") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(5);
    network.run(seconds(5));
    network.kill(4);
    network.run(seconds(20));
    CHECK(network.all_see(4, Liveness::kDead));
    network.start(4);
    CHECK(is_whole_within(network, seconds(2)));
    network.run(seconds(20));
    CHECK(network.whole());
  });
}

TEST_CASE("gossip: after a restart of all at once no live member stays dead") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(10);
    network.run(seconds(5));
    for (size_t i = 0; i < 10; ++i) network.kill(i);
    for (size_t i = 0; i < 10; ++i) {
      network.run(milliseconds(30));
      network.start(i);
    }
    CHECK(is_whole_within(network, seconds(2)));
    network.run(seconds(30));
    CHECK(network.whole());
  });
}

TEST_CASE(
    "gossip: both sides of a partition call the other dead, and are one again after it heals") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(7);
    network.run(seconds(5));
    network.partition({0, 1, 2});
    network.run(seconds(45));
    CHECK(network.sees(0, 5, Liveness::kDead));
    CHECK(network.sees(5, 0, Liveness::kDead));
    CHECK(network.sees(0, 2, Liveness::kAlive));
    CHECK(network.sees(5, 6, Liveness::kAlive));
    network.clear_changes();
    network.partition({});
    CHECK(is_whole_within(network, seconds(32)));
    network.run(seconds(60));
    CHECK(network.whole());
  });
}

TEST_CASE("gossip: a healed partition does not make anybody lose a member of its own side") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(6);
    network.run(seconds(5));
    network.partition({0, 1, 2});
    network.run(seconds(45));
    network.clear_changes();
    network.partition({});
    network.run(seconds(60));
    size_t lost_friends = 0;
    for (const auto& change : network.changes()) {
      const bool same_side = (change.observer < 3) == (change.member.id.value - 1 < 3);
      if (same_side && change.member.liveness == Liveness::kDead) ++lost_friends;
    }
    CHECK(lost_friends == 0);
  });
}

TEST_CASE("gossip: after a minute of 25 % loss nobody stays dead") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(8);
    network.run(seconds(5));
    network.lose(0.25);
    network.run(seconds(60));
    network.lose(0);
    CHECK(is_whole_within(network, seconds(35)));
    network.run(seconds(30));
    network.clear_changes();
    network.run(seconds(30));
    CHECK(network.accused().empty());
  });
}

TEST_CASE("gossip: a member that leaves is seen as left and not as dead, until it comes back") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(5);
    network.run(seconds(5));
    network.clear_changes();
    network[3].leave(network.now());
    CHECK(network[3].next_deadline() == kNever);
    network.run(milliseconds(10));
    CHECK(network.all_see(3, Liveness::kLeft));
    network.kill(3);
    network.run(seconds(60));
    CHECK(network.all_see(3, Liveness::kLeft));
    for (const auto& change : network.changes()) CHECK(change.member.liveness == Liveness::kLeft);
    network.start(3);
    CHECK(is_whole_within(network, seconds(2)));
  });
}

TEST_CASE("gossip: a goodbye reaches also those whose packet was lost") {
  on_seeds([](GossipNetwork& network) {
    network.start_all(10);
    network.run(seconds(5));
    network.lose(0.5);
    network[3].leave(network.now());
    network.kill(3);
    network.run(seconds(1));
    network.lose(0);
    CHECK(network.run_until([&] { return network.all_see(3, Liveness::kLeft); }, seconds(15)));
  });
}

TEST_CASE("gossip: the same seed gives the same run, another seed another") {
  const auto trace = [](uint64_t seed) {
    GossipNetwork network(seed);
    network.start_all(6);
    network.lose(0.1);
    network.run(seconds(20));
    network.kill(2);
    network.run(seconds(20));
    return network.trace();
  };
  CHECK(trace(7) == trace(7));
  CHECK(trace(7) != trace(8));
}

TEST_CASE("gossip: a settled cluster is quiet: about a ping and an ack per member and second") {
  GossipNetwork network(1);
  network.start_all(10);
  network.run(seconds(10));
  const size_t before = network.packets();
  network.run(seconds(60));
  CHECK(network.packets() - before <= 2 * 10 * 61);
}

}  // namespace torc::membership
