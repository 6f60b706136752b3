// FakeEnv: an Env that remembers what a part of the Node did, so that a test can look at it; Bench:
// such a part's surroundings, a context with time that the test moves. For tests of single parts;
// whole Nodes run in node_harness.h.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/node/context.h"
#include "daemon/node/next_epoch.h"

namespace torc::node {

class FakeEnv final : public Env {
 public:
  struct Sent {
    Address to;
    Channel channel;
    pb::Envelope message;
  };

  void send(const Address& to, Channel channel, const pb::Envelope& message) override {
    sent.push_back({to, channel, message});
  }
  void submit(storage::StorageRequest request) override { submitted.push_back(std::move(request)); }
  void answer(RequestId request, Reply reply) override { answers[request] = std::move(reply); }
  uint64_t random() override {
    // SplitMix64 (Steele et al. 2014): any fixed sequence will do.
    uint64_t z = (random_state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  void set_cluster(uint64_t id) override { cluster_id = id; }
  void log(LogLevel level, std::string_view text) override { logged.emplace_back(level, text); }
  void stop(ExitCode code, std::string_view reason) override {
    if (!stopped) stopped = {code, std::string(reason)};
  }

  // What was sent since the last call.
  std::vector<Sent> take_sent() { return std::exchange(sent, {}); }
  size_t logged_at(LogLevel level) const {
    size_t count = 0;
    for (const auto& line : logged) count += line.first == level;
    return count;
  }

  std::vector<Sent> sent;
  std::vector<storage::StorageRequest> submitted;
  std::map<RequestId, Reply> answers;
  std::vector<std::pair<LogLevel, std::string>> logged;
  std::optional<std::pair<ExitCode, std::string>> stopped;
  uint64_t cluster_id = 0;

 private:
  uint64_t random_state_ = 1;
};

inline Address loopback(uint16_t port) {
  return *Address::parse("127.0.0.1:" + std::to_string(port));
}

// Member I of the test clusters: id 100+I, name nI, as scripts/cluster numbers them.
inline NodeId id_of(uint32_t i) {
  return {100 + i};
}
inline Address peer_of(uint32_t i) {
  return loopback(static_cast<uint16_t>(7100 + i));
}
inline Address client_of(uint32_t i) {
  return loopback(static_cast<uint16_t>(7000 + i));
}

inline pb::TopologyMember member(uint32_t i) {
  pb::TopologyMember result;
  result.set_id(id_of(i).value);
  result.set_name("n" + std::to_string(i));
  result.set_peer(peer_of(i).to_bytes());
  result.set_client(client_of(i).to_bytes());
  result.set_weight(1);
  return result;
}

inline std::shared_ptr<const ClusterView> view_of(const SealedTopology& topology) {
  if (!topology) throw std::runtime_error(topology.error());
  auto view = ClusterView::build(*topology);
  if (!view) throw std::runtime_error(view.error());
  return *view;
}

// Epoch 1: n1 alone.
inline std::shared_ptr<const ClusterView> founded(uint64_t cluster_id = 77,
                                                  uint32_t replication = 3) {
  Founding founding;
  founding.cluster_id = cluster_id;
  founding.hash_seed = 5;
  founding.founder = member(1);
  founding.replication = replication;
  founding.partitions = 64;
  founding.policy = "token-ring";
  return view_of(found_cluster(founding));
}

// The epoch after `view`, in which these joined.
inline std::shared_ptr<const ClusterView> joined(const ClusterView& view,
                                                 std::initializer_list<uint32_t> members) {
  EpochChange change;
  for (const uint32_t i : members) change.joins.push_back(member(i));
  return view_of(next_epoch(view, change));
}

// The epoch after `view`, open for writes.
inline std::shared_ptr<const ClusterView> opened(const ClusterView& view) {
  EpochChange change;
  change.open_writes = true;
  return view_of(next_epoch(view, change));
}

struct Bench {
  explicit Bench(uint32_t self = 1) {
    config.name = "n" + std::to_string(self);
    config.peer = peer_of(self);
    config.client = client_of(self);
    context.self = id_of(self);
    context.now = {Instant(std::chrono::seconds(1)), 1'700'000'000'000};
  }

  // Moves the time, and calls `fire` for each timer that is due on the way.
  void advance(Duration by, const std::function<void(const Deadlines::Due&)>& fire) {
    const Instant end = context.now.at + by;
    while (context.deadlines.next() <= end) {
      context.now.at = std::max(context.now.at, context.deadlines.next());
      Deadlines::Due due;
      if (context.deadlines.pop(context.now.at, due)) fire(due);
    }
    context.now.at = end;
  }

  // A message of member `from`.
  static pb::Envelope message(uint32_t from) {
    pb::Envelope result;
    result.set_from(id_of(from).value);
    result.set_sender(peer_of(from).to_bytes());
    return result;
  }
  static pb::Envelope record_message(uint32_t from, const ClusterView& view) {
    pb::Envelope result = message(from);
    *result.mutable_topology() = view.topology().record();
    return result;
  }

  // The oldest storage request that is not answered yet.
  storage::StorageRequest take_request() {
    if (env.submitted.empty()) throw std::runtime_error("nothing was asked of the disk");
    storage::StorageRequest request = std::move(env.submitted.front());
    env.submitted.erase(env.submitted.begin());
    return request;
  }
  // It was written.
  storage::StorageResult written() {
    return {take_request().tag, Status(), storage::WriteMetaResult{}};
  }
  storage::StorageResult refused() {
    return {take_request().tag, Status(StatusCode::kIoError, "the disk is gone"),
            storage::WriteMetaResult{}};
  }

  FakeEnv env;
  NodeConfig config;
  NodeContext context{env, config};
};

}  // namespace torc::node
