// Suspicion: how long a suspect has to defend itself before it counts as dead. Pure arithmetic
// after hashicorp/memberlist (util.go, suspicionTimeout). Free for anybody to call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "membership/instant.h"

namespace torc::membership {

// multiplier * max(1, log10(members)) * probe_interval; `members` counts the live ones, self
// included.
Duration suspicion_timeout(uint32_t multiplier, size_t members, Duration probe_interval);

}  // namespace torc::membership
