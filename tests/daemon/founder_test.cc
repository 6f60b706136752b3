#include "daemon/node/founder.h"

#include <doctest/doctest.h>

#include "placement/claim.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

struct FounderBench : Bench {
  explicit FounderBench(uint32_t self = 1) : Bench(self) { context.view = founded(); }

  void ask_to_join(const pb::TopologyMember& newcomer, bool forwarded = false) {
    pb::Envelope message = Bench::message(9);
    message.set_from(newcomer.id());
    message.set_sender(peer_of(9).to_bytes());
    *message.mutable_join()->mutable_member() = newcomer;
    message.mutable_join()->set_forwarded(forwarded);
    founder.on_join(message);
  }
  void wait(Duration by) {
    advance(by, [this](const Deadlines::Due& due) {
      if (due.part == Part::kFounder) founder.on_deadline(due.cookie);
    });
  }
  // The disk stores the epoch that was decided.
  void store() {
    REQUIRE(keeper.on_storage_done(written()));
    founder.on_view_changed();
  }
  void ask_to_open(uint32_t from) {
    pb::Envelope message = Bench::message(from);
    message.mutable_open_writes();
    founder.on_open_writes(message);
  }
  std::string refusal() {
    const auto sent = env.take_sent();
    return sent.size() == 1 && sent[0].message.has_join_refused()
               ? sent[0].message.join_refused().reason()
               : "";
  }

  TopologyKeeper keeper{context};
  Founder founder{context, keeper};
};

TEST_CASE(
    "founder: founding makes epoch 1 with this daemon alone, and nothing is said before it is "
    "stored") {
  FounderBench bench;
  bench.context.view = nullptr;
  bench.founder.found();
  CHECK(bench.context.view == nullptr);
  bench.store();
  CHECK(bench.context.view->epoch() == 1);
  CHECK(bench.context.view->topology().cluster_id() != 0);
  CHECK(bench.context.view->topology().body().founder() == bench.context.self.value);
  CHECK(bench.env.sent.empty());
}

TEST_CASE("founder: parameters that make no cluster stop the daemon in words") {
  FounderBench bench;
  bench.context.view = nullptr;
  SUBCASE("policy") {
    bench.config.policy = "alphabetical";
  }
  SUBCASE("partitions") {
    bench.config.partitions = 1000;
  }
  SUBCASE("weight") {
    bench.config.weight = 0;
  }
  bench.founder.found();
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kRefused);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: joins within the window share one epoch, which is pushed to all members") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  bench.wait(Founder::kJoinWindow / 2);
  bench.ask_to_join(member(3));
  bench.ask_to_join(member(3));
  CHECK(bench.env.submitted.empty());
  bench.wait(Founder::kJoinWindow / 2);
  bench.store();

  CHECK(bench.context.view->epoch() == 2);
  CHECK(bench.context.view->topology().body().members_size() == 3);
  REQUIRE(bench.env.sent.size() == 2);
  CHECK(bench.env.sent[0].to == peer_of(2));
  CHECK(bench.env.sent[1].to == peer_of(3));
  CHECK(bench.env.sent[1].message.topology().digest() == bench.context.view->digest());
}

TEST_CASE("founder: a newcomer that no ring can be made with keeps nobody else out") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  pb::TopologyMember giant = member(3);
  giant.set_weight(1'000'000);
  bench.ask_to_join(giant);
  CHECK(bench.env.sent.at(0).to == peer_of(3));
  CHECK(bench.refusal().find("weights") != std::string::npos);
  bench.wait(Founder::kJoinWindow);
  bench.store();
  CHECK(bench.context.named_in_topology(id_of(2)) != nullptr);
  CHECK(bench.context.named_in_topology(id_of(3)) == nullptr);
}

TEST_CASE("founder: a join that comes while an epoch is being stored gets the next one") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  bench.wait(Founder::kJoinWindow);
  bench.ask_to_join(member(3));
  bench.wait(Founder::kJoinWindow);
  CHECK(bench.env.submitted.size() == 1);
  bench.store();
  bench.store();
  CHECK(bench.context.view->epoch() == 3);
  CHECK(bench.context.view->topology().find("n3") != nullptr);
}

TEST_CASE("founder: a newcomer whose epoch is being stored joins once, however often it asks") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  bench.wait(Founder::kJoinWindow);
  pb::TopologyMember twin = member(3);
  twin.set_name("n2");
  bench.ask_to_join(twin);
  CHECK(bench.env.sent.at(0).to == peer_of(3));
  CHECK(bench.refusal().find("'n2'") != std::string::npos);
  bench.ask_to_join(member(2));
  bench.store();
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(2));
  CHECK(bench.env.sent[0].message.has_topology());
  bench.wait(Founder::kJoinWindow);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: who asks while the cluster is being opened, however slowly, is too late") {
  FounderBench bench;
  bench.founder.open_writes();
  bench.wait(std::chrono::seconds(6));  // the write's time is over; the disk still stores the epoch
  bench.ask_to_join(member(2));
  bench.store();
  CHECK(bench.refusal().find("accepted writes") != std::string::npos);
  bench.wait(Founder::kJoinWindow);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: a member that asks again is sent the current record") {
  FounderBench bench;
  bench.context.view = joined(*founded(), {2});
  bench.ask_to_join(member(2));
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(2));
  CHECK(bench.env.sent[0].message.has_topology());
}

TEST_CASE("founder: others pass a join on to the founder, once") {
  FounderBench bench(2);
  bench.context.view = joined(*founded(), {2});
  bench.ask_to_join(member(3));
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(1));
  CHECK(bench.env.sent[0].message.join().forwarded());
  CHECK(bench.env.sent[0].message.join().member().name() == "n3");
  bench.env.take_sent();
  bench.ask_to_join(member(3), true);
  CHECK(bench.env.sent.empty());
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: who cannot be let in is told why") {
  FounderBench bench;
  SUBCASE("nonsense goes back to its sender") {
    pb::TopologyMember nameless = member(2);
    nameless.set_name("");
    bench.ask_to_join(nameless);
    CHECK(bench.env.sent.at(0).to == peer_of(9));
    CHECK(bench.refusal().find("name") != std::string::npos);
  }
  SUBCASE("a member's name") {
    pb::TopologyMember twin = member(2);
    twin.set_name("n1");
    bench.ask_to_join(twin);
    CHECK(bench.env.sent.at(0).to == peer_of(2));
    CHECK(bench.refusal().find("'n1'") != std::string::npos);
  }
  SUBCASE("the name of somebody who came a moment earlier") {
    bench.ask_to_join(member(2));
    pb::TopologyMember twin = member(3);
    twin.set_name("n2");
    bench.ask_to_join(twin);
    CHECK(bench.refusal().find("'n2'") != std::string::npos);
  }
  SUBCASE("a cluster that is open for writes") {
    bench.context.view = opened(*founded());
    bench.ask_to_join(member(2));
    CHECK(bench.refusal().find("accepted writes") != std::string::npos);
  }
  SUBCASE("a removed daemon") {
    pb::TopologyBody body = joined(*founded(), {2})->topology().next_body();
    body.mutable_members(1)->set_role(pb::REMOVED);
    body.set_ring(claim(nullptr, body)->encode());
    bench.context.view = view_of(membership::Topology::seal(body));
    bench.ask_to_join(member(2));
    CHECK(bench.refusal().find("removed") != std::string::npos);
  }
  bench.wait(Founder::kJoinWindow / 2);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: more newcomers than there is room for wait for the next window") {
  FounderBench bench;
  for (uint32_t i = 2; i < Founder::kJoinsMax + 10; ++i) bench.ask_to_join(member(i));
  bench.wait(Founder::kJoinWindow);
  bench.store();
  CHECK(bench.context.view->topology().body().members_size() == Founder::kJoinsMax + 1);
}

TEST_CASE("founder: a write on a founder who is alone opens the cluster at once") {
  FounderBench bench;
  bench.founder.open_writes();
  bench.store();
  CHECK(bench.context.view->epoch() == 2);
  CHECK(bench.context.view->writes_open());
  bench.wait(std::chrono::seconds(10));
  CHECK(bench.env.submitted.empty());
  CHECK(bench.env.sent.empty());
}

TEST_CASE("founder: waiting joins come before the opening, in an epoch of their own") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  bench.founder.open_writes();
  bench.store();
  CHECK(bench.context.view->epoch() == 2);
  CHECK(bench.context.view->topology().find("n2") != nullptr);
  CHECK(!bench.context.view->writes_open());
  bench.store();
  CHECK(bench.context.view->epoch() == 3);
  CHECK(bench.context.view->writes_open());
}

TEST_CASE("founder: once opening is asked for, no owner changes any more") {
  FounderBench bench;
  bench.ask_to_join(member(2));
  bench.wait(Founder::kJoinWindow);  // epoch 2 is being stored
  bench.founder.open_writes();
  bench.ask_to_join(member(3));
  CHECK(bench.refusal().find("accepted writes") != std::string::npos);
  bench.store();
  CHECK(!bench.context.view->writes_open());
  bench.store();
  CHECK(bench.context.view->writes_open());
  CHECK(bench.context.view->epoch() == 3);
  CHECK(bench.context.view->topology().find("n3") == nullptr);
}

TEST_CASE(
    "founder: it opens when all members but one hold the epoch, so that no old majority is left") {
  FounderBench bench;
  bench.context.view = joined(*founded(), {2, 3, 4});
  bench.founder.on_view_changed();
  bench.founder.on_word(id_of(2), 1);
  bench.founder.on_word(id_of(3), 2);
  bench.founder.open_writes();
  CHECK(bench.env.submitted.empty());
  // Those who have not confirmed are sent the record again, until they do.
  REQUIRE(bench.env.sent.size() == 2);
  CHECK(bench.env.sent[0].to == peer_of(2));
  CHECK(bench.env.sent[1].to == peer_of(4));
  bench.wait(Founder::kOpenRetry);
  CHECK(bench.env.sent.size() == 4);

  bench.founder.on_word(id_of(9), 2);  // a stranger counts for nothing
  CHECK(bench.env.submitted.empty());
  bench.founder.on_word(id_of(2), 2);
  bench.store();
  CHECK(bench.context.view->writes_open());
}

TEST_CASE("founder: where each partition has one owner all members must hold the epoch") {
  FounderBench bench;
  bench.context.view = joined(*founded(77, 1), {2});
  bench.founder.open_writes();
  CHECK(bench.env.submitted.empty());
  bench.founder.on_word(id_of(2), 2);
  bench.store();
  CHECK(bench.context.view->writes_open());
}

TEST_CASE("founder: an opening that nobody waits for any more is given up, and joins go on") {
  FounderBench bench;
  bench.context.view = joined(*founded(), {2, 3});
  bench.founder.open_writes();
  bench.ask_to_join(member(4));
  CHECK(bench.env.sent.back().message.has_join_refused());
  bench.wait(std::chrono::seconds(6));
  bench.env.take_sent();
  bench.ask_to_join(member(4));
  bench.wait(Founder::kJoinWindow);
  bench.store();
  CHECK(bench.context.view->topology().find("n4") != nullptr);
  CHECK(!bench.context.view->writes_open());
}

TEST_CASE("founder: other members confirm each epoch to it") {
  FounderBench bench(2);
  bench.context.view = joined(*founded(), {2});
  bench.founder.on_view_changed();
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(1));
  CHECK(bench.env.sent[0].message.topology_pull().known_epoch() == 2);
}

TEST_CASE("founder: other members ask it to open, again and again, as long as a write can wait") {
  FounderBench bench(2);
  bench.context.view = joined(*founded(), {2});
  bench.founder.open_writes();
  bench.founder.open_writes();
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].to == peer_of(1));
  CHECK(bench.env.sent[0].message.has_open_writes());

  SUBCASE("until it is open") {
    bench.wait(Founder::kOpenRetry);
    CHECK(bench.env.take_sent().size() == 2);
    bench.context.view = opened(*bench.context.view);
    bench.founder.on_view_changed();
    bench.env.take_sent();
    bench.wait(10 * Founder::kOpenRetry);
    CHECK(bench.env.sent.empty());
  }
  SUBCASE("until the write's time is over") {
    bench.wait(std::chrono::seconds(6));
    CHECK(bench.env.take_sent().size() == 1 + 5000 / 300);
    bench.wait(std::chrono::seconds(6));
    CHECK(bench.env.sent.empty());
  }
}

TEST_CASE("founder: it opens when a member asks, and tells an asker who is late") {
  FounderBench bench;
  bench.context.view = joined(*founded(), {2});
  bench.ask_to_open(5);  // a stranger
  CHECK(bench.env.submitted.empty());
  bench.ask_to_open(2);
  bench.ask_to_open(2);
  CHECK(bench.env.submitted.size() == 1);
  bench.store();
  CHECK(bench.context.view->writes_open());
  bench.env.take_sent();
  bench.ask_to_open(2);
  REQUIRE(bench.env.sent.size() == 1);
  CHECK(bench.env.sent[0].message.topology().digest() == bench.context.view->digest());
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("founder: after a fork nothing is decided") {
  FounderBench bench;
  bench.keeper.on_word(peer_of(2), 1, bench.context.view->digest() + 1);
  REQUIRE(bench.keeper.forked());
  bench.ask_to_join(member(2));
  CHECK(bench.refusal().find("two topologies") != std::string::npos);
  bench.founder.open_writes();
  CHECK(bench.env.submitted.empty());
}

}  // namespace
}  // namespace torc::node
