// TopologyHooks: what the data path asks of whoever keeps the topology. Both calls only ask; the
// answer is a new view, which arrives as an input of its own. Called by Replica and Coordinator as
// often as they like.
#pragma once

#include <cstdint>

#include "membership/address.h"

namespace torc::node {

class TopologyHooks {
 public:
  virtual ~TopologyHooks() = default;

  // A client's write waits for an epoch that is open for writes.
  virtual void open_writes() = 0;
  // The daemon at this address knows a newer epoch than the view's: it is to be pulled.
  virtual void behind(const Address& who_is_ahead, uint64_t epoch) = 0;
};

}  // namespace torc::node
