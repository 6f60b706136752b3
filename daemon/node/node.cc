#include "daemon/node/node.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "daemon/node/clock_keeper.h"
#include "daemon/node/context.h"
#include "daemon/node/coordinator.h"
#include "daemon/node/founder.h"
#include "daemon/node/gossip_link.h"
#include "daemon/node/identity.h"
#include "daemon/node/joiner.h"
#include "daemon/node/replica.h"
#include "daemon/node/status_desk.h"
#include "daemon/node/status_json.h"
#include "daemon/node/topology_hooks.h"
#include "daemon/node/topology_keeper.h"
#include "daemon/node/twin.h"

namespace torc::node {

// A Node's life: the identity is read and made durable; then it resumes as a member, or becomes one
// by founding or by joining; and from the first view on it gossips and serves.
class Node::Impl final : public TopologyHooks {
 public:
  Impl(NodeConfig config, Env& env) : config_(std::move(config)), context_{env, config_} {}

  void start() {
    started_ = context_.now.at;
    identity_.start();
  }

  void on_peer_message(pb::Envelope& message);
  void on_command(RequestId id, Request request);
  void on_storage_done(storage::StorageResult result);
  void on_time();

  void on_peer_lost(const Address& peer) {
    if (is_member()) coordinator_.on_peer_lost(peer);
  }
  void on_client_lost(RequestId id) {
    coordinator_.on_client_lost(id);
    status_.on_client_lost(id);
  }
  void shutdown() { gossip_.leave(); }

  Instant next_deadline() const {
    return std::min(context_.deadlines.next(), gossip_.next_deadline());
  }
  NodeMetrics metrics() const;

  void set_now(Now now) { context_.now = now; }

  void open_writes() override { founder_.open_writes(); }
  void behind(const Address& who_is_ahead, uint64_t epoch) override {
    keeper_.behind(who_is_ahead, epoch);
  }

 private:
  bool is_member() const { return context_.view != nullptr; }
  size_t operations_running() const { return coordinator_.running() + status_.running(); }

  void on_identity_ready();
  void on_view_changed(const ClusterView* before);
  void answer_owners(RequestId id, const OwnersRequest& request);
  void refuse(RequestId id, std::string words) {
    context_.env.answer(id, ErrorReply{ErrorReply::kUnavailable, std::move(words)});
  }

  NodeConfig config_;
  NodeContext context_;
  Instant started_;
  bool clock_ready_ = false;

  Identity identity_{context_};
  TopologyKeeper keeper_{context_};
  Founder founder_{context_, keeper_};
  Joiner joiner_{context_};
  Twin twin_{context_};
  GossipLink gossip_{context_, keeper_, twin_};
  ClockKeeper clock_{context_};
  Replica replica_{context_, *this};
  Coordinator coordinator_{context_, clock_, replica_, *this};
  StatusDesk status_{context_};
};

void Node::Impl::on_identity_ready() {
  context_.self = identity_.id();
  config_.name = identity_.name();
  clock_.start(identity_.hlc_ceiling());

  if (identity_.topology()) {
    if (keeper_.resume(*identity_.topology())) on_view_changed(nullptr);
  } else if (config_.bootstrap == !config_.join.empty()) {
    context_.env.stop(
        ExitCode::kRefused,
        "an empty data directory needs either --bootstrap, to found a new cluster, or "
        "--join, to become a member of one");
  } else if (config_.bootstrap) {
    founder_.found();
  } else {
    joiner_.start();
  }
}

void Node::Impl::on_view_changed(const ClusterView* before) {
  const ClusterView& view = *context_.view;
  context_.metrics.epoch = view.epoch();
  context_.metrics.digest = view.digest();
  context_.env.log(LogLevel::kInfo,
                   "epoch " + std::to_string(view.epoch()) +
                       ", members: " + std::to_string(view.topology().body().members_size()) +
                       (view.writes_open() ? ", open for writes" : ", closed for writes"));
  if (before == nullptr) {
    context_.env.set_cluster(view.topology().cluster_id());
    joiner_.finish();
    status_.start();
    twin_.start();
  }
  gossip_.on_view_changed(before, identity_.restarts());
  founder_.on_view_changed();
  coordinator_.on_view_changed();
}

void Node::Impl::on_peer_message(pb::Envelope& message) {
  const NodeId from{message.from()};
  if (!context_.self || !from || !Address::from_bytes(message.sender())) return;
  if (from == context_.self) {
    if (is_member()) twin_.on_message(message);
    return;
  }

  using Message = pb::Envelope;
  // A newcomer's clock is not yet the cluster's concern.
  if (message.message_case() != Message::kJoin && !context_.observe(message.hlc())) {
    ++context_.metrics.absurd_clocks;
    if (context_.named_in_topology(from) != nullptr) {
      context_.alarm("the clock of " + context_.name_of(from) +
                     " is more than a century ahead: it is not listened to");
    }
    return;
  }
  if (!is_member()) {
    if (message.message_case() == Message::kTopology) keeper_.on_record(message);
    if (message.message_case() == Message::kJoinRefused) joiner_.on_refused(message);
    return;
  }
  switch (message.message_case()) {
    case Message::kMerge:
      return replica_.on_merge(message);
    case Message::kMergeReply:
      return coordinator_.on_merge_reply(message);
    case Message::kRead:
      return replica_.on_read(message);
    case Message::kReadReply:
      return coordinator_.on_read_reply(message);
    case Message::kGossip:
      gossip_.on_packet(message);
      return founder_.on_word(from, message.gossip().topology_epoch());
    case Message::kPushPull:
      gossip_.on_push_pull(message);
      return founder_.on_word(from, message.push_pull().topology_epoch());
    case Message::kTopologyPull:
      keeper_.on_pull(message);
      return founder_.on_word(from, message.topology_pull().known_epoch());
    case Message::kTopology:
      return keeper_.on_record(message);
    case Message::kJoin:
      return founder_.on_join(message);
    case Message::kOpenWrites:
      return founder_.on_open_writes(message);
    case Message::kStatus:
      return status_.on_question(message);
    case Message::kStatusReply:
      return status_.on_reply(message);
    case Message::kJoinRefused:  // an answer to an earlier question
    case Message::MESSAGE_NOT_SET:
      return;  // a message of a later minor version
  }
}

void Node::Impl::on_command(RequestId id, Request request) {
  if (std::holds_alternative<InfoRequest>(request)) {
    return context_.env.answer(id, TextReply{info_text(context_, metrics(), started_)});
  }
  if (!is_member()) return refuse(id, "this daemon is not yet a member of a cluster");
  if (operations_running() >= config_.operations_max) {
    return refuse(
        id, "this daemon already runs " + std::to_string(config_.operations_max) + " requests");
  }
  if (auto* get = std::get_if<GetRequest>(&request)) {
    coordinator_.on_get(id, std::move(*get));
  } else if (auto* put = std::get_if<PutRequest>(&request)) {
    coordinator_.on_put(id, std::move(*put));
  } else if (auto* owners = std::get_if<OwnersRequest>(&request)) {
    answer_owners(id, *owners);
  } else if (std::holds_alternative<SizeRequest>(request)) {
    status_.on_command(id, StatusOperation::Kind::kSize);
  } else {
    status_.on_command(id, StatusOperation::Kind::kStatus);
  }
}

void Node::Impl::answer_owners(RequestId id, const OwnersRequest& request) {
  OwnersReply reply;
  reply.partition = context_.view->partition_of(request.key);
  for (const NodeId owner : context_.view->owners(reply.partition)) {
    reply.owners.push_back({context_.name_of(owner), owner.to_string(),
                            context_.client_address_of(owner).to_string(),
                            membership::to_string(context_.liveness_of(owner))});
  }
  context_.env.answer(id, std::move(reply));
}

void Node::Impl::on_storage_done(storage::StorageResult result) {
  const auto part = static_cast<Part>(result.tag >> 56);
  const uint64_t cookie = result.tag & ((uint64_t{1} << 56) - 1);
  switch (part) {
    case Part::kIdentity:
      if (identity_.on_storage_done(result)) on_identity_ready();
      return;
    case Part::kTopology: {
      const std::shared_ptr<const ClusterView> before = context_.view;
      if (keeper_.on_storage_done(result)) on_view_changed(before.get());
      return;
    }
    case Part::kClock:
      if (!clock_.on_storage_done(cookie, result)) return;
      clock_ready_ = true;
      return coordinator_.on_clock_ready();
    case Part::kReplica:
      return replica_.on_storage_done(cookie, result);
    case Part::kStatus:
      return status_.on_storage_done(result);
    case Part::kFounder:
    case Part::kJoiner:
    case Part::kCoordinator:
      return;  // these ask nothing of the disk
  }
}

void Node::Impl::on_time() {
  Deadlines::Due due;
  while (context_.deadlines.pop(context_.now.at, due)) {
    switch (due.part) {
      case Part::kTopology:
        keeper_.on_deadline(due.cookie);
        break;
      case Part::kFounder:
        founder_.on_deadline(due.cookie);
        break;
      case Part::kJoiner:
        joiner_.on_deadline();
        break;
      case Part::kCoordinator:
        coordinator_.on_deadline(due.cookie);
        break;
      case Part::kStatus:
        status_.on_deadline(due.cookie);
        break;
      case Part::kIdentity:
      case Part::kClock:
      case Part::kReplica:
        break;  // these set no timers
    }
  }
  gossip_.on_time();
}

NodeMetrics Node::Impl::metrics() const {
  NodeMetrics metrics = context_.metrics;
  metrics.ready = is_member() && clock_ready_;
  metrics.operations_running = operations_running();
  gossip_.count_members(metrics);
  return metrics;
}

Node::Node(NodeConfig config, Env& env) : impl_(std::make_unique<Impl>(std::move(config), env)) {}
Node::~Node() = default;

void Node::start(Now now) {
  impl_->set_now(now);
  impl_->start();
}

void Node::on_peer_message(pb::Envelope& message, Now now) {
  impl_->set_now(now);
  impl_->on_peer_message(message);
}

void Node::on_command(RequestId id, Request request, Now now) {
  impl_->set_now(now);
  impl_->on_command(id, std::move(request));
}

void Node::on_storage_done(storage::StorageResult result, Now now) {
  impl_->set_now(now);
  impl_->on_storage_done(std::move(result));
}

void Node::on_time(Now now) {
  impl_->set_now(now);
  impl_->on_time();
}

void Node::on_peer_lost(const Address& peer, Now now) {
  impl_->set_now(now);
  impl_->on_peer_lost(peer);
}

void Node::on_client_lost(RequestId id) {
  impl_->on_client_lost(id);
}

void Node::shutdown(Now now) {
  impl_->set_now(now);
  impl_->shutdown();
}

Instant Node::next_deadline() const {
  return impl_->next_deadline();
}

NodeMetrics Node::metrics() const {
  return impl_->metrics();
}

}  // namespace torc::node
