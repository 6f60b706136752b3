// EventLoop: one daemon's thread. It owns the libuv loop, the sockets and the Node, hands the Node
// every input with the time, and carries out what the Node asks for. What one turn of the loop
// produced leaves in one go before the loop sleeps; nothing reaches the Node from within a call of
// the Node. Used by main alone.
#pragma once

#include <uv.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/node/env.h"
#include "daemon/node/node.h"
#include "daemon/shell/client_server.h"
#include "daemon/shell/gossip_socket.h"
#include "daemon/shell/http_status.h"
#include "daemon/shell/peer_transport.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/status_board.h"
#include "daemon/shell/storage_queue.h"
#include "daemon/shell/uv_handle.h"
#include "membership/address.h"
#include "membership/instant.h"
#include "storage/batch_executor.h"

namespace torc::shell {

struct EventLoopConfig {
  node::NodeConfig node;
  Address client;  // the listeners
  Address peer;
  Address http;
  bool durability_sync = true;
  PeerLimits peers;
  ClientLimits clients;
};

class EventLoop : private node::Env, private PeerEvents, private CommandSink {
 public:
  // Listens everywhere; an error in words when it cannot. `executor` must outlive it.
  static std::expected<std::unique_ptr<EventLoop>, std::string> open(
      EventLoopConfig config, storage::BatchExecutor& executor);
  ~EventLoop() override;

  // Runs the daemon until a signal or the Node ends it.
  node::ExitCode run();

 private:
  explicit EventLoop(EventLoopConfig config);
  std::expected<void, std::string> listen(storage::BatchExecutor& executor);

  // node::Env
  void send(const Address& to, node::Channel channel, const pb::Envelope& message) override;
  void submit(storage::StorageRequest request) override;
  void answer(node::RequestId request, node::Reply reply) override;
  uint64_t random() override { return random_(); }
  void set_cluster(uint64_t cluster_id) override;
  void log(node::LogLevel level, std::string_view text) override;
  void stop(node::ExitCode code, std::string_view reason) override;

  // Inputs.
  void on_message(pb::Envelope& message) override;
  void on_lost(const Address& peer) override { lost_.push_back(peer); }
  void on_command(node::RequestId id, node::Request request) override;
  void on_wake();
  void on_timer();
  void on_signal(int number);

  void flush();
  void deliver_answers();
  void deliver_lost();
  void arm_timer();
  void publish();
  void end_when_drained();

  const Now& now();

  EventLoopConfig config_;
  uv_loop_t loop_{};
  ReadBuffer buffer_;
  std::mt19937_64 random_;

  std::optional<Now> turn_at_;  // the time of this turn, once somebody asked
  // The Node may be called until it or a signal said stop.
  bool running_ = true;
  std::optional<uint64_t> stopping_since_ms_;
  node::ExitCode exit_code_ = node::ExitCode::kStopped;

  std::vector<std::pair<node::RequestId, node::Reply>> answers_;
  std::vector<Address> lost_;
  std::vector<storage::StorageRequest> storage_requests_;
  std::vector<storage::StorageResult> storage_results_;
  Instant armed_for_ = kNever;
  std::unordered_map<node::RequestId, StatusBoard::Question> questions_;
  uint32_t last_question_ = 0;

  UvHandle<uv_prepare_t> before_sleep_;
  UvHandle<uv_async_t> wake_;
  UvHandle<uv_timer_t> timer_;
  UvHandle<uv_timer_t> ticker_;
  UvHandle<uv_signal_t> sigterm_;
  UvHandle<uv_signal_t> sigint_;

  std::unique_ptr<PeerTransport> peers_;
  std::unique_ptr<GossipSocket> gossip_;
  std::unique_ptr<ClientServer> clients_;
  std::unique_ptr<node::Node> node_;
  std::unique_ptr<StorageQueue> storage_;
  StatusBoard board_;
  std::unique_ptr<HttpStatus> http_;
};

}  // namespace torc::shell
