// Node: one daemon's whole protocol, without I/O. It reacts to inputs that each carry the time, and
// acts only through Env, so it runs the same under libuv and in the simulator, and the same inputs
// give the same outputs. All calls come from one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/node/env.h"
#include "daemon/node/peer.pb.h"
#include "daemon/node/request.h"
#include "membership/address.h"
#include "membership/gossip.h"
#include "membership/instant.h"
#include "storage/request.h"

namespace torc::node {

struct NodeConfig {
  std::string version = "unknown";  // of torc, for INFO
  std::string name;
  Address peer;    // as others reach it
  Address client;  // as clients reach it
  uint32_t weight = 1;
  std::string rack;

  // An empty data directory needs exactly one of the two; a used one ignores both.
  bool bootstrap = false;
  std::vector<Address> join;

  // Only for bootstrap.
  uint32_t replication = 3;
  uint32_t partitions = 4096;
  std::string policy = "balanced";

  membership::GossipConfig gossip;
  size_t operations_max = 100'000;  // client requests running at once; more are refused
  size_t replica_requests_max =
      65'536;  // peers' and own requests waiting for storage; more get BUSY
};

// Counters since start, and gauges.
struct NodeMetrics {
  bool ready = false;  // a member that can coordinate requests
  uint64_t epoch = 0;
  uint64_t digest = 0;
  uint64_t gets = 0;
  uint64_t puts = 0;
  uint64_t unavailable = 0;
  uint64_t timeouts = 0;
  uint64_t stale_retries = 0;
  uint64_t read_repairs = 0;
  uint64_t replica_merges = 0;
  uint64_t replica_reads = 0;
  uint64_t replica_refusals = 0;  // malformed requests of peers
  uint64_t operations_running = 0;
  uint64_t members_alive = 0;
  uint64_t members_suspect = 0;
  uint64_t members_dead = 0;
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t alarms = 0;
};

class Node {
 public:
  Node(NodeConfig config, Env& env);
  ~Node();

  // First input: reads the durable state, then founds, joins or resumes.
  void start(Now now);

  // May move the contents out of `message`.
  void on_peer_message(pb::Envelope& message, Now now);
  void on_command(RequestId id, Request request, Now now);
  void on_storage_done(storage::StorageResult result, Now now);
  void on_time(Now now);
  // The stream to this address broke or cannot be made; what was sent on it may be lost.
  void on_peer_lost(const Address& peer, Now now);
  // The client is gone; its running request needs no answer (its effect is not taken back).
  void on_client_lost(RequestId id);
  // Says good-bye to the others; the last input before a clean stop.
  void shutdown(Now now);

  // When on_time wants to be called next; kNever when nothing waits.
  Instant next_deadline() const;

  NodeMetrics metrics() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torc::node
