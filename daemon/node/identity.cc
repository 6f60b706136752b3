#include "daemon/node/identity.h"

#include "daemon/node/clock_keeper.h"
#include "daemon/node/identity.pb.h"

namespace torc::node {
namespace {

// Durable counters: 8 bytes, little-endian.
std::string encode_counter(uint64_t value) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::optional<uint64_t> decode_counter(std::string_view bytes) {
  if (bytes.size() != 8) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  return value;
}

}  // namespace

std::string Identity::encode(NodeId id, uint64_t cluster_id, const std::string& name) {
  pb::Identity identity;
  identity.set_node_id(id.value);
  identity.set_cluster_id(cluster_id);
  identity.set_name(name);
  return identity.SerializeAsString();
}

void Identity::start() {
  context_.submit(
      Part::kIdentity, 0,
      storage::ReadMeta{{std::string(kName), std::string(kRestartsName), std::string(kTopologyName),
                         std::string(ClockKeeper::kCeilingName)}});
}

bool Identity::on_storage_done(const storage::StorageResult& result) {
  if (!result.status.ok()) {
    context_.env.stop(ExitCode::kFailed,
                      "the identity cannot be read or stored: " + result.status.message());
    return false;
  }
  const auto* stored = std::get_if<storage::ReadMetaResult>(&result.value);
  if (stored == nullptr) return true;  // what follows below is durable

  if (std::string wrong = take(*stored); !wrong.empty()) {
    context_.env.stop(ExitCode::kFailed, "the data directory is damaged: " + wrong);
    return false;
  }
  if (!id_) {
    while (!id_) id_.value = context_.env.random();
    name_ = context_.config.name;
  } else if (name_ != context_.config.name) {
    context_.env.log(LogLevel::kWarning, "this data directory belongs to '" + name_ +
                                             "'; the name '" + context_.config.name +
                                             "' is ignored");
  }
  ++restarts_;
  context_.submit(Part::kIdentity, 0,
                  storage::WriteMeta{{{std::string(kName), encode(id_, cluster_id_, name_)},
                                      {std::string(kRestartsName), encode_counter(restarts_)}}});
  return false;
}

std::string Identity::take(const storage::ReadMetaResult& stored) {
  if (stored.values.size() != 4) return "it answers another question";
  const auto& [identity, restarts, topology, ceiling] =
      std::tie(stored.values[0], stored.values[1], stored.values[2], stored.values[3]);

  if (identity) {
    pb::Identity parsed;
    if (!parsed.ParseFromString(*identity) || parsed.node_id() == 0) {
      return "the identity does not parse";
    }
    id_.value = parsed.node_id();
    cluster_id_ = parsed.cluster_id();
    name_ = parsed.name();
  }
  if (identity.has_value() != restarts.has_value()) {
    return "of the identity and the restart counter only one is there";
  }
  if (restarts) {
    const auto count = decode_counter(*restarts);
    if (!count) return "the restart counter does not parse";
    restarts_ = *count;
  }
  if ((cluster_id_ != 0) != topology.has_value()) {
    return "of the cluster id and the topology only one is there";
  }
  if (topology && !topology_.emplace().ParseFromString(*topology)) {
    return "the topology does not parse";
  }
  if (ceiling) {
    const auto hlc = ClockKeeper::decode_ceiling(*ceiling);
    if (!hlc) return "the clock's ceiling does not parse";
    hlc_ceiling_ = *hlc;
  }
  return {};
}

}  // namespace torc::node
