// NodeHarness: whole Nodes in one process, over memory engines and a network that delivers every
// frame in order and at once, with a clock that jumps from event to event. For stories of a few
// daemons; faults and seeds belong to the simulator.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "daemon/node/frame.h"
#include "daemon/node/node.h"
#include "storage/batch_executor.h"
#include "storage/memory_engine.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {

class NodeHarness {
 public:
  // Daemon nI on its own disk, which outlives it.
  class Daemon final : public Env {
   public:
    Daemon(NodeHarness& harness, uint32_t number) : harness_(harness), number_(number) {}

    void start(bool bootstrap, std::vector<Address> join) {
      NodeConfig config;
      config.name = "n" + std::to_string(number_);
      config.peer = peer_of(number_);
      config.client = client_of(number_);
      config.partitions = 64;
      config.operations_max = operations_max;
      config.bootstrap = bootstrap;
      config.join = std::move(join);
      cluster_id = 0;
      stopped.reset();
      executor_ = std::move(*storage::BatchExecutor::open(disk_));
      node = std::make_unique<Node>(std::move(config), *this);
      node->start(harness_.now());
    }
    // Its disk becomes a copy of another's; it has none of its own yet.
    void copy_disk_of(Daemon& other) {
      std::vector<storage::Mutation> all;
      static_cast<void>(other.disk_.scan({}, {}, [&](std::string_view key, std::string_view value) {
        all.push_back({std::string(key), std::string(value)});
        return true;
      }));
      static_cast<void>(disk_.write(all, true));
    }
    // kill -9: what was not synced is gone, and nothing reaches it any more.
    void kill() {
      node = nullptr;
      ++life_;
      disk_.crash();
    }
    bool running() const { return node != nullptr && !stopped; }

    void send(const Address& to, Channel, const pb::Envelope& message) override {
      std::string bytes;
      FrameWriter writer(bytes);
      writer.append(message, cluster_id);
      writer.finish();
      harness_.deliver(to, std::move(bytes));
    }
    void submit(storage::StorageRequest request) override {
      harness_.later([this, life = life_, request = std::move(request)]() mutable {
        if (life != life_ || !running()) return;
        std::vector<storage::StorageRequest> batch;
        batch.push_back(std::move(request));
        auto results = executor_->execute_writes(std::move(batch), true);
        node->on_storage_done(std::move(results.front()), harness_.now());
      });
    }
    void answer(RequestId request, Reply reply) override { answers[request] = std::move(reply); }
    uint64_t random() override { return harness_.random_.random(); }
    void set_cluster(uint64_t id) override { cluster_id = id; }
    void log(LogLevel, std::string_view) override {}
    void stop(ExitCode code, std::string_view reason) override {
      stopped = {code, std::string(reason)};
    }

    size_t operations_max = 100;
    std::unique_ptr<Node> node;
    std::map<RequestId, Reply> answers;
    std::optional<std::pair<ExitCode, std::string>> stopped;
    uint64_t cluster_id = 0;

   private:
    NodeHarness& harness_;
    const uint32_t number_;
    uint64_t life_ = 0;
    storage::MemoryEngine disk_;
    std::unique_ptr<storage::BatchExecutor> executor_;
  };

  Daemon& daemon(uint32_t number) {
    auto& daemon = daemons_[peer_of(number)];
    if (daemon == nullptr) daemon = std::make_unique<Daemon>(*this, number);
    return *daemon;
  }

  Now now() const { return now_; }
  void later(std::function<void()> event) { events_.push_back(std::move(event)); }

  // One thing that is due now, and no more. REQUIRES: there is one.
  void step() {
    const auto event = std::move(events_.at(0));
    events_.pop_front();
    event();
  }

  // Lets time pass; every timer fires when it is due.
  void run(Duration time) {
    const Instant end = now_.at + time;
    for (;;) {
      while (!events_.empty()) {
        const auto event = std::move(events_.front());
        events_.pop_front();
        event();
      }
      Instant next = kNever;
      for (const auto& [address, daemon] : daemons_) {
        if (daemon->running()) next = std::min(next, daemon->node->next_deadline());
      }
      if (next > end) break;
      move_time(std::max(next, now_.at));
      for (const auto& [address, daemon] : daemons_) {
        if (daemon->running() && daemon->node->next_deadline() <= now_.at)
          daemon->node->on_time(now_);
      }
    }
    move_time(end);
  }

  // One request, and its answer.
  Reply ask(uint32_t number, Request request, Duration time = std::chrono::seconds(6)) {
    Daemon& asked = daemon(number);
    const RequestId id = ++last_request_;
    asked.node->on_command(id, std::move(request), now_);
    for (Duration waited{0}; waited < time && !asked.answers.contains(id);
         waited += std::chrono::milliseconds(10)) {
      run(std::chrono::milliseconds(10));
    }
    if (!asked.answers.contains(id)) throw std::runtime_error("no answer");
    return std::move(asked.answers.extract(id).mapped());
  }

  // The first messages that were delivered, for those who want to damage some.
  const std::vector<std::string>& delivered() const { return delivered_; }

 private:
  void deliver(const Address& to, std::string bytes) {
    later([this, to, bytes = std::move(bytes)] {
      const auto at = daemons_.find(to);
      if (at == daemons_.end() || !at->second->running()) return;
      Daemon& receiver = *at->second;
      FrameReader::read_datagram(bytes, receiver.cluster_id, [&](pb::Envelope& message) {
        if (delivered_.size() < kDeliveredMax) delivered_.push_back(message.SerializeAsString());
        receiver.node->on_peer_message(message, now_);
      });
    });
  }
  void move_time(Instant to) {
    now_.at = to;
    now_.wall_ms =
        kWallStartMs +
        std::chrono::duration_cast<std::chrono::milliseconds>(to.time_since_epoch()).count();
  }

  static constexpr size_t kDeliveredMax = 2000;

  static constexpr int64_t kWallStartMs = 1'700'000'000'000;

  Now now_{Instant(), kWallStartMs};
  std::deque<std::function<void()>> events_;
  std::map<Address, std::unique_ptr<Daemon>> daemons_;  // by peer address
  std::vector<std::string> delivered_;
  FakeEnv random_;
  RequestId last_request_ = 0;
};

}  // namespace torc::node
