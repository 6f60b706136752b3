#include "membership/topology.h"

#include <google/protobuf/message_lite.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <utility>

namespace torc::membership {
namespace {

constexpr uint32_t kPartitionsMax = 65536;
constexpr uint32_t kReplicationMax = 16;
constexpr size_t kNameBytesMax = 255;

std::string label(const pb::TopologyMember& member) {
  return "member " + NodeId{member.id()}.to_string() + " ('" + member.name() + "')";
}

// The first rule that `body` breaks, in words; empty when it keeps all.
std::string parameters_error(const pb::TopologyBody& body) {
  if (body.cluster_id() == 0) return "no cluster id";
  if (body.epoch() == 0) return "epoch 0; the first epoch is 1";
  const uint32_t partitions = body.parameters().partitions();
  if (!std::has_single_bit(partitions) || partitions > kPartitionsMax) {
    return "partitions " + std::to_string(partitions) + " is not a power of two up to " +
           std::to_string(kPartitionsMax);
  }
  const uint32_t replication = body.parameters().replication();
  if (replication < 1 || replication > kReplicationMax) {
    return "replication " + std::to_string(replication) + " is not within 1.." +
           std::to_string(kReplicationMax);
  }
  return {};
}

std::string members_error(const pb::TopologyBody& body) {
  std::map<std::string_view, NodeId> names;
  NodeId previous;
  bool has_founder = false;
  for (const pb::TopologyMember& member : body.members()) {
    const NodeId id{member.id()};
    if (!id) return label(member) + " has no id";
    if (id == previous) return label(member) + " is named twice";
    if (id < previous) return label(member) + " is out of order; members are ordered by id";
    if (member.name().empty()) return label(member) + " has no name";
    if (member.name().size() > kNameBytesMax) {
      return label(member) + " has a name of more than " + std::to_string(kNameBytesMax) + " bytes";
    }
    const auto [other, is_new] = names.emplace(member.name(), id);
    if (!is_new) return label(member) + " has the name of member " + other->second.to_string();
    has_founder |= member.id() == body.founder();
    previous = id;
  }
  if (!has_founder) {
    return "founder " + NodeId{body.founder()}.to_string() + " is not among the members";
  }
  return {};
}

}  // namespace

std::expected<std::shared_ptr<const Topology>, std::string> Topology::decode(
    const pb::TopologyRecord& record) {
  const uint64_t digest = XXH3_64bits(record.body().data(), record.body().size());
  if (digest != record.digest()) {
    return std::unexpected("topology digest " + NodeId{record.digest()}.to_string() +
                           " does not match its body, whose digest is " +
                           NodeId{digest}.to_string());
  }
  std::shared_ptr<Topology> topology(new Topology);
  if (!topology->body_.ParseFromString(record.body())) {
    return std::unexpected("topology body of " + std::to_string(record.body().size()) +
                           " bytes is not an encoded TopologyBody");
  }
  std::string error = parameters_error(topology->body_);
  if (error.empty()) error = members_error(topology->body_);
  if (!error.empty()) {
    return std::unexpected("topology of epoch " + std::to_string(topology->epoch()) + ": " + error);
  }
  topology->record_ = record;
  return topology;
}

std::expected<std::shared_ptr<const Topology>, std::string> Topology::seal(
    const pb::TopologyBody& body) {
  pb::TopologyRecord record;
  if (!body.SerializeToString(record.mutable_body())) {
    return std::unexpected("topology of epoch " + std::to_string(body.epoch()) +
                           " is too large to be encoded");
  }
  record.set_digest(XXH3_64bits(record.body().data(), record.body().size()));
  return decode(record);
}

const pb::TopologyMember* Topology::find(NodeId id) const {
  const auto& members = body_.members();
  const auto found = std::lower_bound(
      members.begin(), members.end(), id,
      [](const pb::TopologyMember& member, NodeId wanted) { return member.id() < wanted.value; });
  return found != members.end() && found->id() == id.value ? &*found : nullptr;
}

const pb::TopologyMember* Topology::find(std::string_view name) const {
  const auto& members = body_.members();
  const auto found =
      std::find_if(members.begin(), members.end(),
                   [name](const pb::TopologyMember& member) { return member.name() == name; });
  return found != members.end() ? &*found : nullptr;
}

pb::TopologyBody Topology::next_body() const {
  pb::TopologyBody next = body_;
  next.set_epoch(body_.epoch() + 1);
  next.set_previous_digest(record_.digest());
  return next;
}

}  // namespace torc::membership
