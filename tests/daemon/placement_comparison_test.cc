#include "daemon/ctl/placement_comparison.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "daemon/ctl/placement_report.h"
#include "daemon/ctl/placement_svg.h"

namespace torc::ctl {
namespace {

PlacementScenario read(const PlacementFlags& flags) {
  auto scenario = read_scenario(flags);
  REQUIRE_MESSAGE(scenario.has_value(), scenario.error());
  return *std::move(scenario);
}

PolicyOutcome run(const PlacementFlags& flags) {
  const PlacementScenario scenario = read(flags);
  auto outcome = run_policy(scenario, scenario.policies.front());
  REQUIRE_MESSAGE(outcome.has_value(), outcome.error());
  return *std::move(outcome);
}

double tenths(double value) {
  return std::round(value * 10) / 10;
}

TEST_CASE("placement compare: modulo moves 80.0 % of 100,000 keys from four nodes to five") {
  const PolicyOutcome outcome = run(
      {.policies = "modulo", .names = "s1,s2,s3,s4", .hash = "md5", .keys = "100000", .add = "s5"});
  CHECK(tenths(outcome.moved_pct) == 80.0);
  CHECK(outcome.moved_over_minimum.value() == doctest::Approx(4.0).epsilon(0.01));
}

TEST_CASE("placement compare: a ring of 100 tokens moves 17.1 %; 17.1 18.9 20.6 21.5 22.0 %") {
  const PolicyOutcome outcome = run({.policies = "token-ring",
                                     .names = "s1,s2,s3,s4",
                                     .vnodes = "100",
                                     .hash = "md5",
                                     .keys = "100000",
                                     .add = "s5"});
  CHECK(tenths(outcome.moved_pct) == 17.1);
  std::vector<double> shares;
  for (const double share : outcome.shares_pct) shares.push_back(tenths(share));
  CHECK(shares == std::vector<double>{20.6, 18.9, 22.0, 21.5, 17.1});
}

TEST_CASE(
    "placement compare: +1 at 100 members moves the minimum under balanced, all under modulo") {
  const PlacementFlags flags{.nodes = "100", .add = "1"};
  const auto with = [&](const char* policy) {
    PlacementFlags all = flags;
    all.policies = policy;
    return run(all);
  };
  const PolicyOutcome balanced = with("balanced");
  CHECK(balanced.moved_over_minimum.value() == doctest::Approx(1).epsilon(0.01));
  CHECK(balanced.max_over_mean < 1.01);
  CHECK(with("modulo").moved_pct > 90);
  const PolicyOutcome bounded = with("bounded-token-ring");
  CHECK(bounded.max_over_mean < 1.06);
  CHECK(bounded.moved_over_minimum.value() > 1.05);
  CHECK(with("token-ring").max_over_mean > 1.1);
}

TEST_CASE("placement compare: what must move is what the fair shares gain") {
  CHECK(minimum_moved_pct(read({.nodes = "4", .replication = "1", .add = "1"})) ==
        doctest::Approx(20));
  CHECK(minimum_moved_pct(read({.nodes = "5", .replication = "1", .remove = "1"})) ==
        doctest::Approx(20));
  CHECK(minimum_moved_pct(read({.nodes = "4", .replication = "1", .replace = "n2=x"})) ==
        doctest::Approx(25));
  // From 1 of 4 to 2 of 5 parts: 15 points.
  CHECK(minimum_moved_pct(read({.nodes = "4", .replication = "1", .reweight = "n1=2"})) ==
        doctest::Approx(15));
  CHECK(minimum_moved_pct(read({.nodes = "4"})) == 0);
}

TEST_CASE("placement compare: a machine replaced under its own name moves nothing") {
  for (const char* policy : {"modulo", "jump", "token-ring", "rendezvous", "balanced"}) {
    const PolicyOutcome outcome = run({.policies = policy, .nodes = "7", .replace = "n3=n3"});
    CHECK(outcome.moved_pct == 0);
    CHECK(outcome.moved_over_minimum == 1.0);
  }
}

TEST_CASE("placement compare: policies that know racks break no rule, and the others do") {
  const auto breaches = [](const char* policy) {
    return run({.policies = policy, .nodes = "9", .racks = "r1,r2,r3"}).rack_violations;
  };
  for (const char* policy :
       {"modulo", "token-ring", "rendezvous", "balanced", "bounded-token-ring"}) {
    CHECK(breaches(policy) == 0);
  }
  CHECK(breaches("maglev") > 1000);
}

TEST_CASE("placement compare: copies without a place are a shortfall") {
  CHECK(run({.policies = "balanced", .nodes = "2", .partitions = "64"}).shortfall == 64);
  CHECK(run({.policies = "maglev", .nodes = "1", .replication = "2", .keys = "10"}).shortfall ==
        10);
}

TEST_CASE(
    "placement compare: another V or hash makes another ring of partitions, the same one not") {
  const auto shares = [](const char* vnodes, const char* hash) {
    return run({.policies = "token-ring", .nodes = "5", .vnodes = vnodes, .hash = hash}).shares_pct;
  };
  CHECK(shares("128", "xxh3") == shares("", ""));
  CHECK(shares("4", "xxh3") != shares("", ""));
  CHECK(shares("128", "md5") != shares("", ""));
  CHECK(shares("1", "crc32").size() == 5);
}

TEST_CASE("placement compare: every policy places every key or partition, whole shares in all") {
  for (const char* keys : {"", "2000"}) {
    const PlacementScenario scenario = read({.nodes = "6", .keys = keys, .remove = "n2"});
    for (const std::string& policy : scenario.policies) {
      const auto outcome = run_policy(scenario, policy);
      REQUIRE(outcome.has_value());
      const auto& shares = outcome->shares_pct;
      CHECK(std::accumulate(shares.begin(), shares.end(), 0.0) == doctest::Approx(100));
      CHECK(shares[1] == 0);
      CHECK(outcome->shortfall == 0);
      CHECK(outcome->lookup_ns > 0);
    }
  }
}

TEST_CASE("placement compare: the JSON is a list with exactly the promised fields") {
  const PlacementScenario scenario = read({.policies = "jump,balanced", .nodes = "3", .add = "1"});
  std::vector<PolicyOutcome> outcomes;
  for (const auto& policy : scenario.policies) {
    outcomes.push_back(run_policy(scenario, policy).value());
  }
  const auto json = nlohmann::ordered_json::parse(comparison_json(scenario, outcomes));
  REQUIRE(json.size() == 2);
  std::vector<std::string> fields;
  for (const auto& [field, value] : json[1].items()) fields.push_back(field);
  CHECK(fields == std::vector<std::string>{
                      "policy", "moved_pct", "moved_over_minimum", "max_over_mean", "sd_pct",
                      "shares_pct", "rack_violations", "shortfall", "lookup_ns", "rebuild_ms"});
  CHECK(json[1]["policy"] == "balanced");
  CHECK(json[1]["shares_pct"].size() == 4);
  CHECK(json[1]["shares_pct"]["n4"].is_number());
  const std::string text = comparison_text(scenario, outcomes);
  CHECK(text.find("3 members, then + n4") == 0);
  CHECK(text.find("what must move: ") != std::string::npos);
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("placement compare: the picture is the same each time, with a circle for each policy") {
  const PlacementScenario scenario =
      read({.policies = "token-ring,jump", .names = "a<b,c&d", .add = "e"});
  const auto draw = [&] {
    std::vector<PolicyOutcome> outcomes;
    for (const auto& policy : scenario.policies) {
      outcomes.push_back(run_policy(scenario, policy).value());
    }
    return draw_comparison(scenario, outcomes);
  };
  const std::string picture = draw();
  CHECK(picture == draw());
  CHECK(count(picture, ">moved</text>") == 2);
  CHECK(count(picture, " x the minimum") == 2);
  CHECK(count(picture, "a&lt;b") == 1);
  CHECK(count(picture, "c&amp;d") == 1);
  CHECK(count(picture, "e (new)") == 1);
  CHECK(count(picture, "nan") == 0);
  CHECK(picture.ends_with("</svg>\n"));
}

TEST_CASE("placement compare: one member's arc goes all the way round") {
  const PlacementScenario scenario = read({.policies = "token-ring", .nodes = "1"});
  const std::vector<PolicyOutcome> outcomes = {run_policy(scenario, "token-ring").value()};
  const std::string picture = draw_comparison(scenario, outcomes);
  CHECK(count(picture, "stroke=\"hsl(") == 1);
  CHECK(count(picture, "dasharray") == 0);
}

}  // namespace
}  // namespace torc::ctl
