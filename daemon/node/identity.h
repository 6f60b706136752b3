// Identity: who this daemon is, as its data directory says: node id, name, cluster, restart
// counter. The node id and the raised counter are durable before the daemon speaks to anybody. Read
// once, at the start of its Node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/node/context.h"
#include "membership/topology.pb.h"

namespace torc::node {

class Identity {
 public:
  static constexpr std::string_view kName = "identity";
  static constexpr std::string_view kRestartsName = "restarts";  // 8 bytes, little-endian
  static constexpr std::string_view kTopologyName = "topology";  // TopologyRecord

  explicit Identity(NodeContext& context) : context_(context) {}

  // What stands under kName.
  static std::string encode(NodeId id, uint64_t cluster_id, const std::string& name);

  // Reads; mints a node id when the directory is empty; counts this start.
  void start();
  // A storage request of Part::kIdentity was answered. True when all is durable and the daemon may
  // speak; a failure stops the daemon.
  bool on_storage_done(const storage::StorageResult& result);

  // REQUIRES for the rest: on_storage_done returned true.
  NodeId id() const { return id_; }
  const std::string& name() const { return name_; }
  // How often this directory was opened, this time included.
  uint64_t restarts() const { return restarts_; }
  uint64_t hlc_ceiling() const { return hlc_ceiling_; }
  // Nullopt when this daemon is not a member yet.
  const std::optional<pb::TopologyRecord>& topology() const { return topology_; }

 private:
  // The words of what is wrong with the directory; empty when nothing is.
  std::string take(const storage::ReadMetaResult& stored);

  NodeContext& context_;
  NodeId id_;
  std::string name_;
  uint64_t cluster_id_ = 0;
  uint64_t restarts_ = 0;
  uint64_t hlc_ceiling_ = 0;
  std::optional<pb::TopologyRecord> topology_;
};

}  // namespace torc::node
