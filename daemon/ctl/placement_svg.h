// The picture of a comparison: for each policy the circle with an arc for each member's first
// copies, what moved after the change, and the members' shares as bars. No times are in it, so the
// same scenario always gives the same bytes. A plain function.
#pragma once

#include <span>
#include <string>

#include "daemon/ctl/placement_comparison.h"

namespace torc::ctl {

std::string draw_comparison(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes);

}  // namespace torc::ctl
