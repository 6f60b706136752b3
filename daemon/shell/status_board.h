// StatusBoard: where the loop leaves word of itself for the HTTP threads, and where they leave
// questions. The loop never waits on it and nobody reads the loop's own state. Each method says
// which side calls it.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/node/node.h"
#include "daemon/shell/client_server.h"
#include "daemon/shell/gossip_socket.h"
#include "daemon/shell/peer_transport.h"
#include "daemon/shell/storage_queue.h"

namespace torc::shell {

// What the daemon counted, at one moment.
struct MetricsSnapshot {
  node::NodeMetrics node;
  PeerStats peers;
  GossipStats gossip;
  ClientStats clients;
  StorageQueue::Counters storage;
};

class StatusBoard {
 public:
  // JSON, or what stands against it.
  using Answer = std::expected<std::string, std::string>;
  using Question = std::shared_ptr<std::promise<Answer>>;
  static constexpr size_t kQuestionsMax = 16;

  // `wake` makes the loop call take_questions(); it is called from any thread until close().
  explicit StatusBoard(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The loop: it lives, and this is what it counted.
  void publish(const MetricsSnapshot& snapshot);
  // The loop: what was asked since the last time.
  std::vector<Question> take_questions();
  // The loop, before it ends: whoever waits is let go and nobody is let in.
  void close();

  // HTTP: null before the first publish().
  std::shared_ptr<const MetricsSnapshot> snapshot() const;
  // HTTP: the loop has published within `age`.
  bool is_alive(std::chrono::steady_clock::duration age) const;
  // HTTP: the answer to TORC.STATUS.
  Answer ask_status(std::chrono::milliseconds wait);

 private:
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::shared_ptr<const MetricsSnapshot> snapshot_;
  std::chrono::steady_clock::time_point published_at_;
  std::vector<Question> questions_;
  bool closed_ = false;
};

}  // namespace torc::shell
