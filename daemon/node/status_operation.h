// StatusOperation: one question to the whole cluster, how much everybody holds and which epoch each
// is in. It asks every living member, waits for all or for its deadline, and answers with what it
// has; whoever was silent is shown as silent. Owned by StatusDesk.
#pragma once

#include <cstdint>
#include <map>

#include "daemon/node/context.h"

namespace torc::node {

class StatusOperation {
 public:
  enum class Kind {
    kStatus,  // the JSON of `torc status --json`
    kSize,    // keys of the whole cluster
  };
  using Replies = std::map<NodeId, pb::StatusReply>;

  static constexpr Duration kTimeout = std::chrono::milliseconds(500);

  StatusOperation(NodeContext& context, RequestId client, Kind kind, uint64_t operation)
      : context_(context), client_(client), kind_(kind), operation_(operation) {}

  // REQUIRES: the view is set. This daemon's own reply comes through on_reply as well.
  void start();
  // True when the operation has answered and is over.
  bool on_reply(NodeId from, const pb::StatusReply& reply);
  void on_deadline();
  // The client is gone, or the operation is over.
  void stop() { context_.deadlines.cancel(timer_); }

  RequestId client() const { return client_; }

 private:
  void answer();

  NodeContext& context_;
  RequestId client_;
  Kind kind_;
  uint64_t operation_;
  size_t asked_ = 0;  // this daemon included
  Replies replies_;
  Deadlines::Handle timer_ = 0;
};

// Live keys of the whole cluster, an estimate while members are silent: what those who answered
// hold is scaled by the share of the replicas they own.
uint64_t cluster_keys(const ClusterView& view, const StatusOperation::Replies& replies);

}  // namespace torc::node
