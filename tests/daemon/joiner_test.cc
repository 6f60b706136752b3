#include "daemon/node/joiner.h"

#include <doctest/doctest.h>

#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

struct JoinerBench : Bench {
  JoinerBench() : Bench(3) { config.join = {peer_of(1), peer_of(2), peer_of(3)}; }

  void wait(Duration by) {
    advance(by, [this](const Deadlines::Due&) { joiner.on_deadline(); });
  }
  void refuse(const std::string& reason) {
    pb::Envelope message = Bench::message(1);
    message.mutable_join_refused()->set_reason(reason);
    joiner.on_refused(message);
  }
  Joiner joiner{context};
};

TEST_CASE("joiner: it asks the others it was told of in turn, never itself") {
  JoinerBench bench;
  bench.joiner.start();
  bench.wait(std::chrono::seconds(5));
  const auto sent = bench.env.take_sent();
  CHECK(sent.size() >= 8);   // at most 625 ms apart
  CHECK(sent.size() <= 14);  // at least 375 ms apart
  for (size_t i = 0; i < sent.size(); ++i) {
    CHECK(sent[i].to == peer_of(i % 2 == 0 ? 1 : 2));
    CHECK(sent[i].channel == Channel::kStream);
    CHECK(sent[i].message.join().member().id() == id_of(3).value);
    CHECK(sent[i].message.join().member().name() == "n3");
    CHECK(!sent[i].message.join().forwarded());
  }
}

TEST_CASE(
    "joiner: it waits for a founder who is down for as long as it takes, and says so now and "
    "then") {
  JoinerBench bench;
  bench.joiner.start();
  bench.wait(std::chrono::minutes(1));
  CHECK(bench.env.sent.size() > 90);
  CHECK(bench.env.logged_at(LogLevel::kWarning) >= 4);
  CHECK(bench.env.logged_at(LogLevel::kWarning) <= 7);
  CHECK(!bench.env.stopped);
}

TEST_CASE("joiner: a refusal stops the daemon with the cluster's words") {
  JoinerBench bench;
  bench.joiner.start();
  bench.refuse("the name\nis taken");
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kRefused);
  CHECK(bench.env.stopped->second.find("the name?is taken") != std::string::npos);
}

TEST_CASE("joiner: once a member, it asks no more and late refusals mean nothing") {
  JoinerBench bench;
  bench.joiner.start();
  bench.joiner.finish();
  bench.env.take_sent();
  bench.wait(std::chrono::seconds(5));
  bench.refuse("too late");
  CHECK(bench.env.sent.empty());
  CHECK(!bench.env.stopped);
}

TEST_CASE("joiner: who knows nobody else, or is nobody himself, does not start") {
  JoinerBench bench;
  SUBCASE("only itself to ask") {
    bench.config.join = {peer_of(3)};
  }
  SUBCASE("a name too long") {
    bench.config.name = std::string(256, 'n');
  }
  bench.joiner.start();
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kRefused);
  CHECK(bench.env.sent.empty());
}

}  // namespace
}  // namespace torc::node
