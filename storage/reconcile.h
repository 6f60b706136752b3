// The join of two records of one key, register by register: commutative, associative and
// idempotent, so replicas that have seen the same writes in any order hold the same bytes. Pure.
#pragma once

#include "storage/record.h"

namespace torc::storage {

// The value register with the greater version wins, and the expiry register that is greater by
// (value version it applies to, own version). Ordering expiries by `of` first lets one that can
// never apply again be dropped: its value version has been overtaken, so every expiry the record
// may still need stands above it. (By own version alone, a late EXPIRE of an overwritten value
// would hide the expiry of the present one.) An expiry of a newer value than the record holds is
// kept until that value arrives.
//
// The result is in normal form, without such a dead expiry; joining with the empty record only
// normalises. Views into the arguments' bytes. Registers of one version are equal by construction;
// should two ever differ, a tombstone, then the greater bytes, then the later expiry wins, so that
// the join stays deterministic.
RecordView join(const RecordView& a, const RecordView& b);

}  // namespace torc::storage
