// any_record: a random record for property tests, drawn from so few versions, values and times that
// equal versions, void expiries and ties are common. Always one that parse() accepts. Only inside
// rc::check.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <string_view>

#include "storage/record.h"

namespace torc::storage {

inline Version any_version() {
  return {*rc::gen::inRange<uint64_t>(1, 5), NodeId{*rc::gen::inRange<uint64_t>(1, 3)}};
}

inline RecordView any_record() {
  static constexpr std::array<std::string_view, 4> kValues{"", "a", "b", "a longer value"};
  RecordView record;
  if (*rc::gen::inRange(0, 4) != 0) {
    record.version = any_version();
    record.tombstone = *rc::gen::inRange(0, 4) == 0;
    if (!record.tombstone) record.value = kValues[*rc::gen::inRange<size_t>(0, kValues.size())];
  }
  if (*rc::gen::inRange(0, 2) != 0) {
    record.expiry = {.version = any_version(),
                     .of = any_version(),
                     .expires_at = *rc::gen::inRange<uint64_t>(0, 4)};
  }
  return record;
}

}  // namespace torc::storage
