// The policy `modulo`: partition p belongs to the members in the places p, p+1, ... of the list, a
// member having as many places as its weight. Perfectly even and the worst mover: almost everything
// moves when the list changes. For comparison only. Pure.
#pragma once

#include "placement/policy.h"

namespace torc::placement {

OwnerTable claim_modulo(const PolicyInput& input);

}  // namespace torc::placement
