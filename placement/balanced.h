// The policy `balanced`: from the table before, the fewest moves after which every member owns less
// than one partition more or less than its fair share, and leads as evenly. Without a table before
// it begins from rendezvous. Pure; called by next_table.
#pragma once

#include "placement/policy.h"

namespace torc::placement {

OwnerTable claim_balanced(const PolicyInput& input);

}  // namespace torc::placement
