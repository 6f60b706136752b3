#include "daemon/ctl/placement_table.h"

#include <doctest/doctest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "placement/claim.h"

namespace torc::ctl {
namespace {

using Json = nlohmann::json;

const std::vector<placement::RingMember> kMembers = {
    {"a", 1, "r1"}, {"b", 1, "r2"}, {"c", 1, "r3"}, {"d", 1, "r1"}};

Json good_table() {
  const auto table = placement::next_table(nullptr, kMembers, {"balanced", 16, 3, 1});
  REQUIRE(table.has_value());
  return Json::parse(table_json(*table, kMembers, "balanced"));
}

std::vector<std::string> violations_of(const Json& json) {
  const auto saved = read_table(json.dump());
  REQUIRE_MESSAGE(saved.has_value(), saved.error());
  std::vector<std::string> violations = saved->violations;
  for (auto& violation : placement::check_table(saved->table, saved->members, saved->expected)) {
    violations.push_back(std::move(violation));
  }
  return violations;
}

// What is said of a good table in which `spoil` has changed something.
std::string said_of(const std::function<void(Json&)>& spoil) {
  Json json = good_table();
  spoil(json);
  std::string all;
  for (const std::string& violation : violations_of(json)) all += violation + "\n";
  return all;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("placement check: a table that was saved is right") {
  CHECK(violations_of(good_table()).empty());
}

TEST_CASE("placement check: each planted violation is named") {
  CHECK(has(said_of([](Json& json) { json["owners"][3][1] = json["owners"][3][0]; }),
            "partition 3 names the owner"));
  CHECK(has(said_of([](Json& json) { json["owners"][3][0] = "stranger"; }),
            "partition 3 has the owner 'stranger', who is no member"));
  CHECK(has(said_of([](Json& json) { json["owners"][5].erase(2); }), "partition 5 has 2 owners"));
  CHECK(has(said_of([](Json& json) { json["owners"][5].push_back("a"); }),
            "partition 5 lists 4 owners; the replication is 3"));
  CHECK(has(said_of([](Json& json) { json["owners"][7] = {"a", "d", "b"}; }),
            "partition 7 has more than 1 owners in the rack 'r1'"));
  CHECK(has(said_of([](Json& json) { json["members"][1]["liveness"] = "dead"; }),
            "the owner 'b', who is not live"));
  CHECK(has(said_of([](Json& json) {
              for (Json& row : json["owners"]) row = {"a", "b", "c"};
            }),
            "member 'd' owns 0 partitions"));
  CHECK(has(said_of([](Json& json) { json["table_digest"] = "00000000000000aa"; }), "digest"));
}

TEST_CASE("placement check: what is no table is refused in words") {
  const auto error = [](const std::string& text) {
    const auto saved = read_table(text);
    return saved ? "none" : saved.error();
  };
  const auto spoiled = [&](const std::function<void(Json&)>& spoil) {
    Json json = good_table();
    spoil(json);
    return error(json.dump());
  };
  CHECK(error("{") == "not JSON");
  CHECK(error("[]") == "not a JSON object");
  CHECK(error("{}") == "'policy' names no policy");
  CHECK(spoiled([](Json& json) { json["policy"] = "best"; }) == "'policy' names no policy");
  CHECK(has(spoiled([](Json& json) { json["partitions"] = 17; }), "'partitions' is not"));
  CHECK(has(spoiled([](Json& json) { json["partitions"] = 32; }), "16 rows for 32 partitions"));
  CHECK(has(spoiled([](Json& json) { json["replication"] = -1; }), "'replication' is not"));
  CHECK(has(spoiled([](Json& json) { json.erase("owners"); }), "'owners' is missing"));
  CHECK(has(spoiled([](Json& json) { json["owners"][0] = "a"; }), "a row that is no list"));
  CHECK(has(spoiled([](Json& json) { json["owners"][0][0] = 1; }), "a name that is no text"));
  CHECK(has(spoiled([](Json& json) { json["members"] = "a"; }), "'members' is no list"));
  CHECK(has(spoiled([](Json& json) { json["members"][0].erase("name"); }), "member 1 has no"));
  CHECK(has(spoiled([](Json& json) { json["members"][2]["weight"] = -1; }), "member 3 has a"));
  CHECK(has(spoiled([](Json& json) { json["table_digest"] = "xyz"; }), "'table_digest' is not"));
}

TEST_CASE("placement check: weight, rack, liveness and digest may be missing") {
  Json json = good_table();
  json.erase("table_digest");
  json["policy"] = "token-ring";  // whose shares are not bound by the racks left out here
  for (Json& member : json["members"]) member = {{"name", member["name"]}};
  CHECK(violations_of(json).empty());
}

}  // namespace
}  // namespace torc::ctl
