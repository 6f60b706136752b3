// The join of two records of one key, register by register: commutative, associative and idempotent, so
// replicas that have seen the same writes in any order hold the same bytes. Pure.
#pragma once

#include "storage/record.h"

namespace torc::storage {

// Views into the arguments' bytes. Value registers of one version are equal by construction; should two ever
// differ, the greater bytes win, so that the join stays deterministic.
RecordView join(const RecordView& a, const RecordView& b);

}  // namespace torc::storage
