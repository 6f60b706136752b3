// The heads: which owner of a partition stands first and leads its writes. Evening them exchanges
// places within the rows, so no data moves; afterwards each member heads the partitions it owns
// divided by the owners of a partition, rounded up or down. Pure; called by the balanced policy.
#pragma once

#include "placement/owner_table.h"

namespace torc::placement {

// Leaves heads alone where it can. REQUIRES: all rows of the same length; `members` counts them.
void even_heads(OwnerTable& table, size_t members);

}  // namespace torc::placement
