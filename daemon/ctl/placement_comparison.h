// The comparison behind `torc placement compare`: what a policy does with the members of a scenario
// before and after its change, measured the same way for all. Everything but the two times depends
// on the scenario alone. Plain functions.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "daemon/ctl/placement_scenario.h"
#include "placement/owner_table.h"

namespace torc::ctl {

// Everyone in the scenario: the members before, in their order, then those who came. Tables of a
// comparison number the members by their place here.
struct Everyone {
  std::vector<std::string> names;
  std::vector<bool> was;  // before the change
  std::vector<bool> is;   // after it
};

Everyone everyone_in(const PlacementScenario& scenario);

struct PolicyOutcome {
  std::string policy;
  placement::OwnerTable before;
  placement::OwnerTable after;
  double moved_pct = 0;  // copies that went to another member, of all copies
  // Against what would go from the fair shares before to those after; nothing when copies moved
  // though none had to.
  std::optional<double> moved_over_minimum{};
  // Of each member's copies over its fair share, after the change.
  double max_over_mean = 0;
  double sd_pct = 0;
  std::vector<double> shares_before_pct{};  // of all copies, by place in Everyone
  std::vector<double> shares_pct{};         // after
  uint64_t rack_violations = 0;             // rows with more copies in a rack than the rule allows
  uint64_t shortfall = 0;                   // copies that have no place
  double lookup_ns = 0;                     // the owner of a hashed key
  double rebuild_ms = 0;                    // the table, or ring, after the change
};

// What each member should have after the change, in percent of all copies, by place in Everyone:
// as the weights say, as far as the racks and the number of members allow.
std::vector<double> fair_shares_pct(const PlacementScenario& scenario);

// What has to move, in percent of all copies.
double minimum_moved_pct(const PlacementScenario& scenario);

std::expected<PolicyOutcome, std::string> run_policy(const PlacementScenario& scenario,
                                                     const std::string& policy);

// Where each row stands on the circle, 0..1: a partition's end, a key's hash.
std::vector<double> row_angles(const PlacementScenario& scenario);

}  // namespace torc::ctl
