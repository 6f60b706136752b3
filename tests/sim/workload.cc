#include "tests/sim/workload.h"

#include <memory>
#include <utility>

#include "storage/record.h"

namespace torc::sim {

Workload::Workload(Cluster& cluster, History& history, WorkloadConfig config, Random random)
    : cluster_(cluster), history_(history), config_(config), random_(random) {
  for (size_t client = 0; client < config_.clients; ++client) {
    favourite_.push_back(random_.below(cluster_.size()));
  }
}

void Workload::start() {
  for (size_t client = 0; client < config_.clients; ++client) think(client);
}

void Workload::think(size_t client) {
  // Now and then a burst without a pause, so that requests for one key meet.
  const Duration pause = random_.chance(200'000)
                             ? Duration(random_.range(0, 1000))
                             : random_.between(config_.think_min, config_.think_max);
  cluster_.queue().after(pause, [this, client] {
    if (!stopped_) act(client);
  });
}

void Workload::act(size_t client) {
  if (random_.chance(300'000)) favourite_[client] = random_.below(cluster_.size());
  const size_t i = favourite_[client];
  if (!cluster_.node(i).running()) {
    ++figures_.not_connected;
    favourite_[client] = random_.below(cluster_.size());
    return think(client);
  }
  const std::string key = pick_key();
  const uint64_t dice = random_.below(1'000'000);
  if (dice < config_.puts) {
    ask_put(i, key, client);
  } else if (dice < config_.puts + config_.deletes) {
    ask_delete(i, key, client);
  } else {
    ask_get(i, key, client);
  }
}

std::string Workload::pick_key() {
  if (random_.chance(config_.hot)) return "hot" + std::to_string(random_.below(config_.hot_keys));
  return "cold" + std::to_string(random_.below(config_.cold_keys));
}

void Workload::get(size_t i, const std::string& key) {
  ask_get(i, key, kNoClient);
}

void Workload::ask_get(size_t i, const std::string& key, size_t client) {
  const History::OperationId id = history_.begin_get(key);
  maybe_abandon(i, ask(i, get_request(key), id, client), client);
}

void Workload::ask_put(size_t i, const std::string& key, size_t client) {
  std::string value = "v" + std::to_string(++values_) + ".";
  if (random_.chance(100'000)) value.append(random_.below(3000), 'x');
  const History::OperationId id = history_.begin_put(key, value);
  maybe_abandon(i, ask(i, put_request(key, std::move(value)), id, client), client);
}

void Workload::ask_delete(size_t i, const std::string& key, size_t client) {
  const History::OperationId id = history_.begin_delete(key);
  ask(i, delete_request(key), id, client);
}

node::RequestId Workload::ask(size_t i, node::Request request, History::OperationId id,
                              size_t client) {
  ++running_;
  return cluster_.submit(i, std::move(request), [this, id, client](const node::Reply* reply) {
    --running_;
    hear(id, reply);
    if (!history_.ok()) cluster_.verdict().fail(Outcome::kWrong, history_.violation());
    if (client != kNoClient) think(client);
  });
}

void Workload::maybe_abandon(size_t i, node::RequestId request, size_t client) {
  if (client == kNoClient || !random_.chance(config_.abandoned)) return;
  cluster_.queue().after(random_.between(Duration(0), std::chrono::milliseconds(3)),
                         [this, i, request, client] {
                           if (!cluster_.abandon(i, request)) return;
                           --running_;
                           ++figures_.unknown;
                           think(client);
                         });
}

void Workload::hear(History::OperationId id, const node::Reply* reply) {
  if (!reply) {
    ++figures_.unknown;
  } else if (const auto* put = std::get_if<node::PutReply>(reply)) {
    ++(history_.is_delete(id) ? figures_.deletes : figures_.puts);
    history_.acknowledge(id, put->version);
  } else if (const auto* got = std::get_if<node::GetReply>(reply)) {
    hear_get(id, *got);
  } else if (const auto* error = std::get_if<node::ErrorReply>(reply)) {
    hear_error(id, *error);
  } else {
    cluster_.verdict().fail(Outcome::kWrong, "a get or put was answered with something else");
  }
}

void Workload::hear_get(History::OperationId id, const node::GetReply& reply) {
  storage::Version version;
  if (!reply.record.empty()) {
    const auto record = storage::RecordView::parse(reply.record);
    if (!record) {
      return cluster_.verdict().fail(Outcome::kWrong, "a get was answered with a broken record");
    }
    version = record->version;
  }
  if (reply.found) {
    ++figures_.gets_found;
    history_.found(id, version, reply.value());
  } else {
    ++figures_.gets_absent;
    history_.absent(id, version);
  }
}

void Workload::hear_error(History::OperationId id, const node::ErrorReply& reply) {
  switch (reply.code) {
    case node::ErrorReply::kUnavailable:
      ++figures_.unavailable;
      if (!history_.is_get(id)) history_.refuse(id);
      break;
    case node::ErrorReply::kTimeout:
      ++figures_.timeouts;
      break;
    default:
      ++figures_.errors;
      cluster_.note(kNoNode, "error: " + reply.message);
  }
}

}  // namespace torc::sim
