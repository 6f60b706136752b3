// The comparison in words: a table for people, and the JSON that programs read. The fields of the
// JSON are fixed; the table may change. Plain functions.
#pragma once

#include <span>
#include <string>

#include "daemon/ctl/placement_comparison.h"

namespace torc::ctl {

std::string comparison_text(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes);

// A list of {policy, moved_pct, moved_over_minimum, max_over_mean, sd_pct, shares_pct: {name: pct},
// rack_violations, shortfall, lookup_ns, rebuild_ms}; moved_over_minimum is null when copies moved
// though none had to.
std::string comparison_json(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes);

}  // namespace torc::ctl
