// Record: two registers, the value (version, bytes or tombstone) and the expiry (version, the value
// version it applies to, time), and their encoding. What is on disk, on the wire and in a reply is
// the same encoded bytes; RecordView reads them in place and copies nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/status.h"
#include "storage/version.h"

namespace torc::storage {

struct Expiry {
  Version version = {};     // zero: no expiry was ever written
  Version of = {};          // the value version it applies to; void for any other
  uint64_t expires_at = 0;  // HLC; 0 = never (PERSIST)

  bool operator==(const Expiry&) const = default;
};

// The bytes it was parsed from must outlive it.
struct RecordView {
  Version version = {};  // zero: no value was ever written
  bool tombstone = false;
  std::string_view value = {};  // empty for a tombstone
  Expiry expiry = {};

  // Whether a reader at time `now_hlc` sees the value: written, not deleted, not expired.
  bool is_live(uint64_t now_hlc) const;

  bool operator==(const RecordView&) const = default;

  // The empty string is the empty record, "absent"; kCorruption when the bytes are not an encoded
  // record.
  static Result<RecordView> parse(std::string_view encoded);
};

// Equal records give equal bytes; the empty record gives the empty string.
// REQUIRES: the record is one that parse() accepts (no value bytes in a tombstone or without a
// version ...).
std::string encode(const RecordView& record);

}  // namespace torc::storage
