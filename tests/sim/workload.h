// Workload: clients that put, get and delete a few hot and some cold keys at quorum through random
// nodes, one request at a time each, and tell the History what they asked and heard. Every value is
// unique; what a client does not hear is an unknown outcome. Driven by the cluster's event queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/node/request.h"
#include "tests/sim/cluster.h"
#include "tests/sim/history.h"
#include "tests/sim/random.h"

namespace torc::sim {

struct WorkloadConfig {
  size_t clients = 6;
  size_t hot_keys = 3;
  size_t cold_keys = 12;
  Duration think_min = std::chrono::milliseconds(1);
  Duration think_max = std::chrono::milliseconds(120);
  // Per million requests.
  uint32_t puts = 400'000;
  uint32_t deletes = 80'000;  // the rest are gets
  uint32_t hot = 700'000;
  uint32_t abandoned = 5'000;  // the client leaves before the answer
};

struct WorkloadFigures {
  uint64_t puts = 0;     // acknowledged
  uint64_t deletes = 0;  // acknowledged
  uint64_t gets_found = 0;
  uint64_t gets_absent = 0;
  uint64_t unavailable = 0;
  uint64_t timeouts = 0;
  uint64_t errors = 0;
  uint64_t unknown = 0;  // the node died with the request, or the client left
  uint64_t not_connected = 0;
};

class Workload {
 public:
  Workload(Cluster& cluster, History& history, WorkloadConfig config, Random random);

  void start();
  // Begins no more requests.
  void stop() { stopped_ = true; }
  size_t requests_running() const { return running_; }

  // Gets `key` at node i, beside whatever the clients do.
  void get(size_t i, const std::string& key);

  const WorkloadFigures& figures() const { return figures_; }

 private:
  void think(size_t client);
  void act(size_t client);
  std::string pick_key();
  // `client` thinks again when the answer is there; kNoClient does not.
  void ask_get(size_t i, const std::string& key, size_t client);
  void ask_put(size_t i, const std::string& key, size_t client);
  void ask_delete(size_t i, const std::string& key, size_t client);
  node::RequestId ask(size_t i, node::Request request, History::OperationId id, size_t client);
  void maybe_abandon(size_t i, node::RequestId request, size_t client);
  void hear(History::OperationId id, const node::Reply* reply);
  void hear_get(History::OperationId id, const node::GetReply& reply);
  void hear_error(History::OperationId id, const node::ErrorReply& reply);

  static constexpr size_t kNoClient = static_cast<size_t>(-1);

  Cluster& cluster_;
  History& history_;
  WorkloadConfig config_;
  Random random_;
  WorkloadFigures figures_;
  std::vector<size_t> favourite_;  // the node each client mostly talks to
  uint64_t values_ = 0;
  size_t running_ = 0;
  bool stopped_ = false;
};

}  // namespace torc::sim
