// SimNode: one simulated machine, the Env of one Node at a time, with its disk and its wall clock.
// It serializes every message into real frames, can be killed, stopped, paused and started again,
// and nothing of one life reaches the next except through the disk. Owned and driven by Cluster.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/node/env.h"
#include "daemon/node/node.h"
#include "tests/sim/disk.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/network.h"
#include "tests/sim/random.h"
#include "tests/sim/trace.h"
#include "tests/sim/wall_clock.h"

namespace torc::sim {

// Bugs of the world, to see that a run with one comes out wrong.
enum class PlantedBug {
  kNone,
  kAcknowledgeBeforeSync,  // the disk answers writes that a crash can still lose
  kForgeAcknowledgement,   // some writes are acknowledged by the network, not by the replica
  kForgeAbsence,           // some replicas say "absent" whatever they hold
  kAbort,                  // the first write kills the simulator itself
};

// What a machine tells its world. Nothing may call back into the machine before returning.
class SimNodeHost {
 public:
  virtual ~SimNodeHost() = default;
  virtual void on_answer(size_t node, node::RequestId id, node::Reply reply) = 0;
  // The node spoke of this epoch.
  virtual void on_epoch_spoken(size_t node, uint64_t epoch, uint64_t digest) = 0;
  // Its process ended, with whatever requests it had; `reason` is empty when it was killed or asked
  // to stop.
  virtual void on_process_ended(size_t node, const std::string& reason) = 0;
  virtual void on_violation(size_t node, std::string message) = 0;
};

class SimNode : public node::Env, public NetworkEndpoint {
 public:
  struct World {
    EventQueue& queue;
    Network& network;
    Trace& trace;
    SimNodeHost& host;
  };

  SimNode(World world, node::NodeConfig config, DiskConfig disk, PlantedBug bug, Random random);

  // Begins a life. REQUIRES: !running().
  void start();
  // kill -9, or the power cut of one machine. Harmless when it is not running.
  void crash();
  // SIGTERM. Harmless when it is not running.
  void stop();
  // SIGSTOP and SIGCONT.
  void pause();
  void resume();

  bool running() const { return node_ != nullptr; }
  bool paused() const { return paused_; }
  // When it was last started or resumed.
  Instant awake_since() const { return awake_since_; }

  // REQUIRES: running().
  void command(node::RequestId id, node::Request request);
  void lose_client(node::RequestId id);
  node::NodeMetrics metrics() const { return node_->metrics(); }

  const Address& peer() const { return config_.peer; }
  size_t index() const { return index_; }
  Disk& disk() { return disk_; }
  WallClock& wall() { return wall_; }

  // NetworkEndpoint
  bool on_bytes(node::Channel channel, std::string_view bytes) override;
  void on_stream_lost(const Address& peer) override;

  // node::Env
  void send(const Address& to, node::Channel channel, const pb::Envelope& message) override;
  void submit(storage::StorageRequest request) override;
  void answer(node::RequestId id, node::Reply reply) override;
  uint64_t random() override { return random_.next(); }
  void set_cluster(uint64_t cluster_id) override { cluster_id_ = cluster_id; }
  void log(node::LogLevel level, std::string_view text) override;
  void stop(node::ExitCode code, std::string_view reason) override;

 private:
  // A stopped process's sockets hold only so many datagrams.
  static constexpr size_t kPausedDatagramsMax = 256;

  Now now() const;
  // Hands an input to the running life, at once or when it is resumed.
  void input(EventQueue::Action action);
  void after_input();
  void arm_timer();
  void fire_timer();
  void end_life(EventKind kind, const std::string& reason);
  bool receive(node::Channel channel, std::string_view bytes);
  void deliver(pb::Envelope& message);
  bool forge(const pb::Envelope& message);
  void record(EventKind kind, std::string_view bytes = {});

  World world_;
  node::NodeConfig config_;
  PlantedBug bug_;
  Random random_;
  Random chaos_;  // the machine's own chance, apart from the Node's
  size_t index_;
  Disk disk_;
  WallClock wall_;

  std::unique_ptr<node::Node> node_;
  uint64_t life_ = 0;
  uint64_t cluster_id_ = 0;
  uint64_t self_ = 0;  // the node id it last signed with
  Duration boot_{0};   // what the monotonic clock is ahead of the virtual one in this life
  std::optional<Instant> timer_;
  std::optional<std::string> stop_reason_;

  bool paused_ = false;
  bool timer_missed_ = false;
  size_t paused_datagrams_ = 0;
  std::deque<EventQueue::Action> backlog_;  // inputs that came while paused
  Instant awake_since_{};
};

}  // namespace torc::sim
