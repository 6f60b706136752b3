// Joiner: a newcomer who asks the daemons it was told of to be let in, one after another, until the
// cluster's topology names it or it is refused. It never gives up by itself: who decides may be
// down for a while. Driven by its Node.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/node/context.h"

namespace torc::node {

class Joiner {
 public:
  static constexpr Duration kAskInterval = std::chrono::milliseconds(500);
  static constexpr uint32_t kAsksPerLogLine = 20;  // about ten seconds

  explicit Joiner(NodeContext& context) : context_(context) {}

  // Stops the daemon when there is nobody to ask.
  void start();
  void on_refused(const pb::Envelope& message);
  void on_deadline();
  // This daemon is a member now.
  void finish();

 private:
  void ask();

  NodeContext& context_;
  std::vector<Address> seeds_;
  uint32_t asked_ = 0;
  Deadlines::Handle timer_ = 0;  // 0: not joining
};

}  // namespace torc::node
