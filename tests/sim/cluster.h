// Cluster: several SimNodes on one virtual clock, one network and one trace, with the verbs a test
// speaks in. It sees that every request is answered in time and that no epoch ever has two digests;
// the first failure is its verdict. The way into the simulator for scenarios, clients and faults;
// one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/node/request.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/sim_node.h"
#include "tests/sim/trace.h"
#include "tests/sim/verdict.h"

namespace torc::sim {

struct ClusterOptions {
  uint64_t seed = 1;
  size_t nodes = 3;
  uint32_t partitions = 16;
  uint32_t replication = 3;
  membership::GossipConfig gossip{};
  DiskConfig disk{};
  PlantedBug bug = PlantedBug::kNone;
  bool verbose = false;
};

node::Request put_request(std::string key, std::string value);
node::Request get_request(std::string key);
node::Request delete_request(std::string key);

class Cluster : private SimNodeHost {
 public:
  // Null when the process died with the request: nobody knows what became of it.
  using ReplySink = std::function<void(const node::Reply*)>;

  // Node 0 is the founder, the others join through all nodes before them; nobody runs yet.
  explicit Cluster(ClusterOptions options);

  size_t size() const { return nodes_.size(); }
  SimNode& node(size_t i) { return *nodes_[i]; }
  EventQueue& queue() { return queue_; }
  Network& network() { return network_; }
  Trace& trace() { return trace_; }
  Verdict& verdict() { return verdict_; }
  const Random& random() const { return random_; }
  Instant now() const { return queue_.now(); }
  // Writes a line into the story and into the trace.
  void note(size_t node, std::string_view text);

  void start(size_t i);
  void start_all();
  void crash(size_t i);
  // Cuts both ways between the nodes of `group` and all others.
  void partition(const std::vector<size_t>& group);
  void isolate(size_t i) { partition({i}); }
  // Ends every fault of the network; nodes stay as they are.
  void heal_network();

  void run_for(Duration time);
  // Runs until `done` or `limit`, looking every few milliseconds; true when done.
  bool run_until(const std::function<bool()>& done, Duration limit);
  // Starts all and waits until they are one settled cluster; a failure to is a stuck verdict.
  void form();
  // All nodes run, are members, see each other alive and hold one epoch.
  bool settled();

  // Asks node i; `sink` is called once, not before this returns, and must not submit. REQUIRES:
  // node i is running.
  node::RequestId submit(size_t i, node::Request request, ReplySink sink);
  // The client goes away and hears nothing; false when it had its answer.
  bool abandon(size_t i, node::RequestId id);
  // Asks and waits; nullopt when the node died with it.
  std::optional<node::Reply> call(size_t i, node::Request request);
  std::optional<node::Reply> put(size_t i, std::string key, std::string value);
  std::optional<node::Reply> get(size_t i, std::string key);
  std::optional<node::Reply> del(size_t i, std::string key);

  // Some node's epoch names all nodes; the others may not know it yet.
  bool everybody_joined();
  // The newest epoch any node ever spoke of.
  uint64_t newest_epoch() const { return epochs_.empty() ? 0 : epochs_.rbegin()->first; }

  // The longest a request may run, and how much later its answer may come.
  static constexpr Duration kRequestTimeout = std::chrono::milliseconds(5000);
  static constexpr Duration kAnswerMargin = std::chrono::milliseconds(500);
  static constexpr Duration kFormLimit = std::chrono::seconds(120);

 private:
  struct Pending {
    size_t node;
    ReplySink sink;
  };

  void on_answer(size_t node, node::RequestId id, node::Reply reply) override;
  void on_epoch_spoken(size_t node, uint64_t epoch, uint64_t digest) override;
  void on_process_ended(size_t node, const std::string& reason) override;
  void on_violation(size_t node, std::string message) override;
  void watch(node::RequestId id, Instant from);

  ClusterOptions options_;
  Random random_;
  EventQueue queue_;
  Trace trace_;
  Verdict verdict_;
  Network network_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::map<node::RequestId, Pending> pending_;
  std::set<node::RequestId> abandoned_;
  node::RequestId last_request_ = 0;
  std::map<uint64_t, uint64_t> epochs_;  // epoch -> digest, as anybody ever spoke of it
  std::vector<uint64_t> spoken_;         // the newest epoch each node spoke of
};

}  // namespace torc::sim
