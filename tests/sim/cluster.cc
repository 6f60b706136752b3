#include "tests/sim/cluster.h"

#include <algorithm>
#include <cassert>

namespace torc::sim {

namespace {

Address address(size_t i, uint16_t port) {
  const auto parsed =
      Address::parse("10.0.0." + std::to_string(i + 1) + ":" + std::to_string(port));
  assert(parsed);
  return *parsed;
}

node::NodeConfig node_config(const ClusterOptions& options, size_t i) {
  node::NodeConfig config;
  config.name = "n" + std::to_string(i + 1);
  config.peer = address(i, 7101);
  config.client = address(i, 7001);
  config.bootstrap = i == 0;
  for (size_t other = 0; other < i; ++other) config.join.push_back(address(other, 7101));
  config.replication = options.replication;
  config.partitions = options.partitions;
  config.gossip = options.gossip;
  return config;
}

}  // namespace

node::Request put_request(std::string key, std::string value) {
  node::PutRequest request;
  request.key = std::move(key);
  request.value = std::move(value);
  return request;
}

node::Request get_request(std::string key) {
  node::GetRequest request;
  request.key = std::move(key);
  return request;
}

node::Request delete_request(std::string key) {
  node::PutRequest request;
  request.key = std::move(key);
  request.tombstone = true;
  return request;
}

Cluster::Cluster(ClusterOptions options)
    : options_(std::move(options)),
      random_(options_.seed),
      trace_(options_.verbose),
      network_(queue_, random_.fork("network")),
      spoken_(options_.nodes) {
  for (size_t i = 0; i < options_.nodes; ++i) {
    nodes_.push_back(std::make_unique<SimNode>(SimNode::World{queue_, network_, trace_, *this},
                                               node_config(options_, i), options_.disk,
                                               options_.bug, random_.fork("node", i)));
  }
}

void Cluster::note(size_t node, std::string_view text) {
  trace_.record(now(), node, EventKind::kFault, text);
  if (trace_.verbose()) trace_.say(now(), node, text);
}

void Cluster::start(size_t i) {
  if (nodes_[i]->running()) return;
  note(i, "starts");
  nodes_[i]->start();
}

void Cluster::start_all() {
  for (size_t i = 0; i < size(); ++i) start(i);
}

void Cluster::crash(size_t i) {
  if (!nodes_[i]->running()) return;
  note(i, "is killed");
  nodes_[i]->crash();
}

void Cluster::partition(const std::vector<size_t>& group) {
  for (size_t a : group) {
    for (size_t b = 0; b < size(); ++b) {
      if (std::ranges::find(group, b) != group.end()) continue;
      network_.cut(a, b);
      network_.cut(b, a);
    }
  }
}

void Cluster::heal_network() {
  network_.mend_all();
}

void Cluster::run_for(Duration time) {
  queue_.run_until(now() + time);
}

bool Cluster::run_until(const std::function<bool()>& done, Duration limit) {
  const Instant end = now() + limit;
  while (!done()) {
    if (now() >= end || !verdict_.clean()) return false;
    queue_.run_until(std::min(end, now() + std::chrono::milliseconds(5)));
  }
  return true;
}

void Cluster::form() {
  start_all();
  if (!run_until([this] { return settled(); }, kFormLimit)) {
    verdict_.fail(Outcome::kStuck, "the nodes did not become one settled cluster");
  }
}

bool Cluster::settled() {
  node::NodeMetrics first;
  for (size_t i = 0; i < size(); ++i) {
    if (!nodes_[i]->running() || nodes_[i]->paused()) return false;
    const node::NodeMetrics metrics = nodes_[i]->metrics();
    if (i == 0) first = metrics;
    if (!metrics.ready || metrics.epoch != first.epoch || metrics.digest != first.digest ||
        metrics.members_alive != size()) {
      return false;
    }
  }
  return true;
}

bool Cluster::everybody_joined() {
  return std::ranges::any_of(nodes_, [this](const auto& node) {
    if (!node->running()) return false;
    const node::NodeMetrics metrics = node->metrics();
    return metrics.members_alive + metrics.members_suspect + metrics.members_dead == size();
  });
}

node::RequestId Cluster::submit(size_t i, node::Request request, ReplySink sink) {
  const node::RequestId id = ++last_request_;
  pending_.emplace(id, Pending{i, std::move(sink)});
  watch(id, now());
  // From an event of its own, so that the answer cannot come before this returns.
  queue_.after(Duration(0), [this, i, id, asked = std::move(request)]() mutable {
    if (pending_.contains(id)) nodes_[i]->command(id, std::move(asked));
  });
  return id;
}

void Cluster::watch(node::RequestId id, Instant from) {
  queue_.at(from + kRequestTimeout + kAnswerMargin, [this, id] {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    const SimNode& asked = *nodes_[found->second.node];
    if (asked.paused()) {
      watch(id, now());
    } else if (now() < asked.awake_since() + kRequestTimeout + kAnswerMargin) {
      // What was sent to a stopped process it reads when it runs again, and its time begins then.
      watch(id, asked.awake_since());
    } else {
      verdict_.fail(Outcome::kStuck, "n" + std::to_string(asked.index() + 1) + " left request " +
                                         std::to_string(id) + " without an answer");
    }
  });
}

bool Cluster::abandon(size_t i, node::RequestId id) {
  if (pending_.erase(id) == 0) return false;
  abandoned_.insert(id);
  if (nodes_[i]->running()) nodes_[i]->lose_client(id);
  return true;
}

std::optional<node::Reply> Cluster::call(size_t i, node::Request request) {
  std::optional<node::Reply> answer;
  bool done = false;
  const node::RequestId id = submit(i, std::move(request), [&](const node::Reply* reply) {
    done = true;
    if (reply) answer = *reply;
  });
  while (!done && verdict_.clean()) queue_.run_one(now() + std::chrono::milliseconds(1));
  if (pending_.erase(id) > 0) abandoned_.insert(id);
  return answer;
}

std::optional<node::Reply> Cluster::put(size_t i, std::string key, std::string value) {
  return call(i, put_request(std::move(key), std::move(value)));
}

std::optional<node::Reply> Cluster::get(size_t i, std::string key) {
  return call(i, get_request(std::move(key)));
}

std::optional<node::Reply> Cluster::del(size_t i, std::string key) {
  return call(i, delete_request(std::move(key)));
}

void Cluster::on_answer(size_t node, node::RequestId id, node::Reply reply) {
  auto found = pending_.extract(id);
  if (found.empty()) {
    if (!abandoned_.contains(id)) {
      on_violation(node, "answered request " + std::to_string(id) + " twice");
    }
    return;
  }
  assert(found.mapped().node == node);
  (void)node;
  found.mapped().sink(&reply);
}

void Cluster::on_epoch_spoken(size_t node, uint64_t epoch, uint64_t digest) {
  if (epoch == 0) return;
  const auto [known, fresh] = epochs_.emplace(epoch, digest);
  if (known->second != digest) {
    on_violation(node, "epoch " + std::to_string(epoch) + " has two digests");
  }
  if (epoch < spoken_[node]) {
    on_violation(node, "went back from epoch " + std::to_string(spoken_[node]) + " to " +
                           std::to_string(epoch));
  }
  spoken_[node] = epoch;
}

void Cluster::on_process_ended(size_t node, const std::string& reason) {
  if (!reason.empty()) on_violation(node, "stopped by itself, " + reason);
  for (auto entry = pending_.begin(); entry != pending_.end();) {
    if (entry->second.node != node) {
      ++entry;
      continue;
    }
    const ReplySink sink = std::move(entry->second.sink);
    entry = pending_.erase(entry);
    sink(nullptr);
  }
}

void Cluster::on_violation(size_t node, std::string message) {
  verdict_.fail(Outcome::kWrong, "n" + std::to_string(node + 1) + ": " + message);
}

}  // namespace torc::sim
