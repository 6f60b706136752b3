#include "daemon/node/join_check.h"

#include <doctest/doctest.h>

#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

TEST_CASE("join check: an ordinary newcomer is welcome") {
  CHECK(check_newcomer(member(2)).empty());
  pb::TopologyMember newcomer = member(2);
  newcomer.set_name("storage 17");
  newcomer.set_rack("r1");
  newcomer.set_weight(kWeightMax);
  CHECK(check_newcomer(newcomer).empty());
}

TEST_CASE("join check: each thing that is wrong is named") {
  const auto words = [](auto spoil) {
    pb::TopologyMember newcomer = member(2);
    spoil(newcomer);
    return check_newcomer(newcomer);
  };
  using M = pb::TopologyMember;
  CHECK(words([](M& m) { m.set_id(0); }).find("node id") != std::string::npos);
  CHECK(words([](M& m) { m.set_name(""); }).find("name") != std::string::npos);
  CHECK(words([](M& m) { m.set_name(std::string(256, 'n')); }).find("name") != std::string::npos);
  CHECK(words([](M& m) { m.set_name("a\nb"); }).find("ASCII") != std::string::npos);
  CHECK(words([](M& m) { m.set_name("st\xc3\xb6rage"); }).find("ASCII") != std::string::npos);
  CHECK(words([](M& m) { m.set_peer(""); }).find("peer") != std::string::npos);
  CHECK(words([](M& m) { m.set_client("x"); }).find("client") != std::string::npos);
  const std::string nowhere = Address::parse("0.0.0.0:7101")->to_bytes();
  CHECK(words([&](M& m) { m.set_peer(nowhere); }).find("0.0.0.0:7101") != std::string::npos);
  CHECK(words([&](M& m) { m.set_client(nowhere); }).find("0.0.0.0:7101") != std::string::npos);
  CHECK(words([](M& m) { m.set_weight(0); }).find("weight") != std::string::npos);
  CHECK(words([](M& m) { m.set_weight(kWeightMax + 1); }).find("weight") != std::string::npos);
  CHECK(words([](M& m) { m.set_rack(std::string(256, 'r')); }).find("rack") != std::string::npos);
}

TEST_CASE("join check: a stranger's words cannot forge a log line") {
  CHECK(printable("no\n2026 INFO all is well\x7f", 100) == "no?2026 INFO all is well?");
  CHECK(printable("long", 2) == "lo");
}

}  // namespace
}  // namespace torc::node
