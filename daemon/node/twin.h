// Twin: another live process with this daemon's node id, as when a data directory was copied and
// both copies run. The one that started later stops, since two processes under one id would mint
// the same versions and count twice in a quorum. Driven by its Node.
#pragma once

#include "daemon/node/context.h"

namespace torc::node {

class Twin {
 public:
  // A daemon that hears of a twin this soon after it began to serve is the later one.
  static constexpr Duration kYoung = std::chrono::seconds(10);

  explicit Twin(NodeContext& context) : context_(context) {}

  // This daemon begins to serve, from now on. If the topology knows it at another address, whoever
  // still lives there is called. REQUIRES: the view is set.
  void start();
  // Members say that this daemon's id lives at this address, and it has started as often as this
  // one, or more.
  void heard_at(const Address& address);
  // A message in this daemon's own name.
  void on_message(const pb::Envelope& message);

 private:
  bool is_young() const { return context_.now.at - since_ < kYoung; }
  void refuse(const Address& address);
  void stop(const Address& address);

  NodeContext& context_;
  Instant since_;
};

}  // namespace torc::node
