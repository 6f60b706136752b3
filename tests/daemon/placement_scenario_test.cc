#include "daemon/ctl/placement_scenario.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace torc::ctl {
namespace {

PlacementScenario read(const PlacementFlags& flags) {
  auto scenario = read_scenario(flags);
  REQUIRE_MESSAGE(scenario.has_value(), scenario.error());
  return *std::move(scenario);
}

std::string error_of(const PlacementFlags& flags) {
  const auto scenario = read_scenario(flags);
  return scenario ? "none" : scenario.error();
}

// NAME:WEIGHT:RACK of each, in order.
std::vector<std::string> words(const std::vector<placement::RingMember>& members) {
  std::vector<std::string> out;
  for (const auto& member : members) {
    out.push_back(member.name + ":" + std::to_string(member.weight) + ":" + member.rack);
  }
  return out;
}

using Words = std::vector<std::string>;

TEST_CASE("placement scenario: without flags, ten members, every policy, 4096 partitions x 3") {
  const PlacementScenario scenario = read({});
  CHECK(scenario.before.size() == 10);
  CHECK(words(scenario.after) == words(scenario.before));
  CHECK(scenario.policies.size() == 8);
  CHECK(scenario.rows() == 4096);
  CHECK(scenario.replication == 3);
  CHECK(scenario.change.empty());
}

TEST_CASE("placement scenario: keys are placed once unless --replication says more") {
  CHECK(read({.keys = "1000"}).replication == 1);
  CHECK(read({.replication = "3", .keys = "1000"}).replication == 3);
  CHECK(read({.keys = "1000"}).rows() == 1000);
}

TEST_CASE("placement scenario: --add takes names or a number, and never a name that is taken") {
  CHECK(words(read({.nodes = "2", .add = "2"}).after) == Words{"n1:1:", "n2:1:", "n3:1:", "n4:1:"});
  CHECK(words(read({.names = "a,n2", .add = "1"}).after) == Words{"a:1:", "n2:1:", "n3:1:"});
  CHECK(words(read({.names = "a,b", .add = "c,d"}).after) == Words{"a:1:", "b:1:", "c:1:", "d:1:"});
}

TEST_CASE("placement scenario: --remove takes names or a number from the end") {
  CHECK(words(read({.nodes = "4", .remove = "2"}).after) == Words{"n1:1:", "n2:1:"});
  CHECK(words(read({.nodes = "4", .remove = "n2,n1"}).after) == Words{"n3:1:", "n4:1:"});
}

TEST_CASE("placement scenario: weights and racks go round the members, those added last") {
  const PlacementScenario scenario =
      read({.nodes = "3", .weights = "1,2", .racks = "r1,r2,r3,r4", .add = "1"});
  CHECK(words(scenario.before) == Words{"n1:1:r1", "n2:2:r2", "n3:1:r3"});
  CHECK(words(scenario.after) == Words{"n1:1:r1", "n2:2:r2", "n3:1:r3", "n4:2:r4"});
}

TEST_CASE("placement scenario: a replacement takes the place, weight and rack of the old one") {
  const PlacementScenario scenario =
      read({.names = "a,b,c", .weights = "1,5,1", .racks = "r1,r2,r3", .replace = "b=x"});
  CHECK(words(scenario.after) == Words{"a:1:r1", "x:5:r2", "c:1:r3"});
  CHECK(scenario.change == "b -> x");
  CHECK(words(read({.names = "a,b", .replace = "b=b"}).after) == Words{"a:1:", "b:1:"});
}

TEST_CASE("placement scenario: changes go together, and are said in words") {
  const PlacementScenario scenario =
      read({.names = "a,b,c", .add = "d", .remove = "a", .reweight = "b=3"});
  CHECK(words(scenario.after) == Words{"b:3:", "c:1:", "d:1:"});
  CHECK(scenario.change == "- a, b = weight 3, + d");
}

TEST_CASE("placement scenario: bad flags are told in one line that names the flag") {
  CHECK(error_of({.policies = "best"}) == "--policies: unknown policy 'best'");
  CHECK(error_of({.policies = "jump,jump"}) == "--policies: 'jump' comes twice");
  CHECK(error_of({.nodes = "0"}) == "--nodes: '0' is not a number from 1 to 4096");
  CHECK(error_of({.nodes = "-1"}) == "--nodes: '-1' is not a number from 1 to 4096");
  CHECK(error_of({.nodes = "3", .names = "a"}) == "--nodes: cannot stand beside --names");
  CHECK(error_of({.names = "a,b,a"}) == "--names: 'a' comes twice");
  CHECK(error_of({.names = "a,,b"}) == "a member without a name");
  CHECK(error_of({.weights = "1,-2"}) == "--weights: '-2' is not a number from 0 to 1000000");
  CHECK(error_of({.weights = "1.5"}) == "--weights: '1.5' is not a number from 0 to 1000000");
  CHECK(error_of({.nodes = "1", .weights = "1,2"}) ==
        "--weights: the list is longer than that of the members");
  CHECK(error_of({.replication = "17"}) == "--replication: '17' is not a number from 1 to 16");
  CHECK(error_of({.partitions = "1000"}) == "--partitions: 1000 is not a power of two");
  CHECK(error_of({.vnodes = "0"}) == "--vnodes: '0' is not a number from 1 to 100000");
  CHECK(error_of({.hash = "sha1"}) == "--hash: 'sha1' is none of xxh3, md5, fnv1a32, crc32");
  CHECK(error_of({.keys = "0"}) == "--keys: '0' is not a number from 1 to 10000000");
  CHECK(error_of({.names = "a,b", .add = "b"}) == "--add: 'b' is a member already");
  CHECK(error_of({.remove = "x"}) == "--remove: there is no member 'x'");
  CHECK(error_of({.nodes = "2", .remove = "2"}) == "--remove: '2' is not a number from 1 to 1");
  CHECK(error_of({.names = "a", .remove = "a"}) == "--remove: nobody is left");
  CHECK(error_of({.reweight = "n1"}) == "--reweight: 'n1' is not NAME=WEIGHT");
  CHECK(error_of({.reweight = "n1=-1"}) == "--reweight: '-1' is not a number from 0 to 1000000");
  CHECK(error_of({.replace = "n1=n2"}) == "--replace: 'n2' is a member already");
  CHECK(error_of({.replace = "x=y"}) == "--replace: there is no member 'x'");
  CHECK(error_of({.weights = "0"}) == "every member has weight 0");
}

}  // namespace
}  // namespace torc::ctl
