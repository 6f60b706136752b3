// TopologyKeeper: takes each new epoch in: verifies it, syncs it, and only then publishes it as the
// Node's view; what it misses it pulls from whoever knows more. Epochs only rise, and two
// topologies under one epoch end all topology work with an alarm while data is served on. Driven by
// its Node.
#pragma once

#include <cstdint>
#include <memory>

#include "daemon/node/context.h"
#include "membership/topology.h"

namespace torc::node {

class TopologyKeeper {
 public:
  static constexpr Duration kPullTimeout = std::chrono::milliseconds(500);
  static constexpr Duration kStoreRetry = std::chrono::seconds(1);

  explicit TopologyKeeper(NodeContext& context) : context_(context) {}

  // The record the disk held becomes the view. False when it is damaged or does not name this
  // daemon, which stops it.
  bool resume(const pb::TopologyRecord& record);

  // A new epoch, decided here; published when it is durable.
  void offer(std::shared_ptr<const membership::Topology> topology);
  // A new epoch by message. A daemon that is no member yet takes only one that names it.
  void on_record(const pb::Envelope& message);
  // Somebody asks for what is newer than it knows.
  void on_pull(const pb::Envelope& message);
  // Says which epoch this daemon holds; who is ahead answers with his.
  void confirm(const Address& to);
  // What a gossiping member says of its topology.
  void on_word(const Address& sender, uint64_t epoch, uint64_t digest);
  // The daemon at this address knows a newer epoch.
  void behind(const Address& who_is_ahead, uint64_t epoch);

  // A storage request of Part::kTopology was answered. True when the view is a new one.
  bool on_storage_done(const storage::StorageResult& result);
  void on_deadline(uint64_t cookie);

  // Two topologies of one epoch were seen.
  bool forked() const { return forked_; }

 private:
  enum Timer : uint64_t { kPullTimer, kStoreTimer };

  uint64_t newest_epoch() const;  // known here, published or not
  bool names_self(const membership::Topology& topology) const;
  void store_next();
  void store();
  void fork(const std::string& words);
  void pull(const Address& from);

  NodeContext& context_;
  bool forked_ = false;

  std::shared_ptr<const ClusterView> storing_;           // verified; one at a time
  std::shared_ptr<const membership::Topology> waiting_;  // the newest of those that came meanwhile

  Deadlines::Handle pull_timer_ = 0;  // one pull at a time
  Address next_teller_;               // who knew more while a pull was running
  uint64_t next_epoch_ = 0;
};

}  // namespace torc::node
