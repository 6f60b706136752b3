// Version: the total order of writes to one key, (HLC, coordinator's node id). The zero version is
// older than every write and stands for "never written". A plain value.
#pragma once

#include <compare>
#include <cstdint>

#include "membership/node_id.h"

namespace torc::storage {

struct Version {
  uint64_t hlc = 0;  // Hlc: 48-bit milliseconds since the Unix epoch, then a 16-bit counter
  NodeId node;

  constexpr auto operator<=>(const Version&) const = default;
  constexpr explicit operator bool() const { return hlc != 0; }
};

}  // namespace torc::storage
