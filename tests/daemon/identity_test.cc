#include "daemon/node/identity.h"

#include <doctest/doctest.h>

#include "daemon/node/identity.pb.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

using Stored = std::vector<std::optional<std::string>>;

struct IdentityBench : Bench {
  IdentityBench() { context.self = {}; }

  // Starts on a directory that holds these values of identity, restarts, topology, hlc_ceiling.
  bool start(Stored stored) {
    identity.start();
    return identity.on_storage_done(
        {take_request().tag, Status(), storage::ReadMetaResult{std::move(stored)}});
  }
  Identity identity{context};
};

const std::string kThree("\x03\0\0\0\0\0\0\0", 8);

TEST_CASE("identity: an empty directory gets a node id, durable before the daemon may speak") {
  IdentityBench bench;
  bench.identity.start();
  const auto read = std::get<storage::ReadMeta>(bench.env.submitted.at(0).op);
  CHECK(read.names == std::vector<std::string>{"identity", "restarts", "topology", "hlc_ceiling"});
  CHECK(!bench.identity.on_storage_done(
      {bench.take_request().tag, Status(), storage::ReadMetaResult{Stored(4)}}));

  REQUIRE(bench.env.submitted.size() == 1);
  const auto write = std::get<storage::WriteMeta>(bench.env.submitted[0].op);
  pb::Identity stored;
  REQUIRE(stored.ParseFromString(write.values.at(0).second));
  CHECK(stored.node_id() != 0);
  CHECK(stored.name() == "n1");
  CHECK(write.values.at(1).second == std::string("\x01\0\0\0\0\0\0\0", 8));
  CHECK(bench.env.sent.empty());

  CHECK(bench.identity.on_storage_done(bench.written()));
  CHECK(bench.identity.id().value == stored.node_id());
  CHECK(bench.identity.restarts() == 1);
  CHECK(!bench.identity.topology());
}

TEST_CASE("identity: a used directory is the same daemon, started once more") {
  IdentityBench bench;
  const auto view = founded();
  CHECK(!bench.start({Identity::encode(id_of(1), 77, "n1"), kThree,
                      view->topology().record().SerializeAsString(),
                      std::string("\0\0\x01\0\0\0\0\0", 8)}));
  CHECK(bench.identity.on_storage_done(bench.written()));
  CHECK(bench.identity.id() == id_of(1));
  CHECK(bench.identity.restarts() == 4);
  CHECK(bench.identity.hlc_ceiling() == 0x10000);
  REQUIRE(bench.identity.topology());
  CHECK(bench.identity.topology()->digest() == view->digest());
  CHECK(bench.env.logged_at(LogLevel::kWarning) == 0);
}

TEST_CASE("identity: the stored name wins over the flag, with a warning") {
  IdentityBench bench;
  bench.config.name = "other";
  bench.start({Identity::encode(id_of(1), 0, "n1"), kThree, {}, {}});
  CHECK(bench.identity.on_storage_done(bench.written()));
  CHECK(bench.identity.name() == "n1");
  CHECK(bench.env.logged_at(LogLevel::kWarning) == 1);
}

TEST_CASE("identity: a damaged directory stops the daemon in words") {
  IdentityBench bench;
  const std::string identity = Identity::encode(id_of(1), 77, "n1");
  const std::string newcomer = Identity::encode(id_of(1), 0, "n1");
  SUBCASE("identity") {
    bench.start({"\xff", kThree, {}, {}});
  }
  SUBCASE("identity without an id") {
    bench.start({"", kThree, {}, {}});
  }
  SUBCASE("restarts") {
    bench.start({newcomer, "3", {}, {}});
  }
  SUBCASE("restarts gone") {
    bench.start({newcomer, {}, {}, {}});
  }
  SUBCASE("topology") {
    bench.start({identity, kThree, "\xff", {}});
  }
  SUBCASE("topology gone") {
    bench.start({identity, kThree, {}, {}});
  }
  SUBCASE("clock") {
    bench.start({newcomer, kThree, {}, "soon"});
  }
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kFailed);
  CHECK(bench.env.stopped->second.find("damaged") != std::string::npos);
  CHECK(bench.env.submitted.empty());
}

TEST_CASE("identity: a disk that refuses stops the daemon") {
  IdentityBench bench;
  bench.identity.start();
  CHECK(!bench.identity.on_storage_done(bench.refused()));
  REQUIRE(bench.env.stopped);
  CHECK(bench.env.stopped->first == ExitCode::kFailed);
  CHECK(bench.env.stopped->second.find("the disk is gone") != std::string::npos);
}

}  // namespace
}  // namespace torc::node
