#include "tests/sim/sim_node.h"

#include <cassert>
#include <cstdlib>
#include <utility>
#include <variant>

#include "daemon/node/frame.h"

namespace torc::sim {

namespace {

DiskConfig with_bug(DiskConfig config, PlantedBug bug) {
  config.acknowledges_early = bug == PlantedBug::kAcknowledgeBeforeSync;
  return config;
}

std::string describe(const node::Request& request) {
  if (const auto* put = std::get_if<node::PutRequest>(&request)) {
    return put->tombstone ? "DEL " + put->key : "SET " + put->key + " " + put->value.substr(0, 40);
  }
  const auto* get = std::get_if<node::GetRequest>(&request);
  return get != nullptr ? "GET " + get->key : "something";
}

std::string describe(const node::Reply& reply) {
  if (const auto* error = std::get_if<node::ErrorReply>(&reply)) {
    static constexpr const char* kNames[] = {"ERR",      "UNAVAILABLE", "TIMEOUT",
                                             "DISKFULL", "TOOBIG",      "WRONGTYPE"};
    return std::string(kNames[error->code]) + " " + error->message;
  }
  if (const auto* got = std::get_if<node::GetReply>(&reply)) {
    return got->found ? "'" + std::string(got->value().substr(0, 40)) + "'" : "absent";
  }
  return "OK";
}

}  // namespace

SimNode::SimNode(World world, node::NodeConfig config, DiskConfig disk, PlantedBug bug,
                 Random random)
    : world_(world),
      config_(std::move(config)),
      bug_(bug),
      random_(random.fork("node")),
      chaos_(random.fork("machine")),
      index_(world.network.attach(config_.peer, *this)),
      disk_(world.queue, random.fork("disk"), with_bug(disk, bug),
            [this](std::vector<storage::StorageResult> results) {
              input([this, done = std::move(results)]() mutable {
                for (storage::StorageResult& result : done) {
                  if (!node_) return;
                  record(EventKind::kStorage,
                         {reinterpret_cast<const char*>(&result.tag), sizeof(result.tag)});
                  node_->on_storage_done(std::move(result), now());
                  after_input();
                }
              });
            }) {}

Now SimNode::now() const {
  const Instant at = world_.queue.now();
  return {at + boot_, wall_.ms(at)};
}

void SimNode::record(EventKind kind, std::string_view bytes) {
  world_.trace.record(world_.queue.now(), index_, kind, bytes);
}

void SimNode::start() {
  assert(!running());
  ++life_;
  record(EventKind::kStart);
  cluster_id_ = 0;
  boot_ = chaos_.between(std::chrono::seconds(1), std::chrono::hours(100));
  timer_.reset();
  stop_reason_.reset();
  awake_since_ = world_.queue.now();
  disk_.power_on();
  world_.network.set_up(index_);
  node_ = std::make_unique<node::Node>(config_, *this);
  node_->start(now());
  after_input();
}

void SimNode::crash() {
  if (running()) end_life(EventKind::kCrash, {});
}

void SimNode::stop() {
  if (!running()) return;
  if (!paused_) node_->shutdown(now());
  end_life(EventKind::kStop, {});
}

void SimNode::end_life(EventKind kind, const std::string& reason) {
  record(kind);
  node_.reset();
  ++life_;
  paused_ = false;
  timer_missed_ = false;
  paused_datagrams_ = 0;
  backlog_.clear();
  disk_.power_off();
  world_.network.set_down(index_);
  world_.host.on_process_ended(index_, reason);
}

void SimNode::pause() {
  if (!running() || paused_) return;
  record(EventKind::kPause);
  paused_ = true;
}

void SimNode::resume() {
  if (!paused_) return;
  record(EventKind::kResume);
  paused_ = false;
  paused_datagrams_ = 0;
  awake_since_ = world_.queue.now();
  const uint64_t life = life_;
  const bool timer_first = chaos_.coin();
  if (std::exchange(timer_missed_, false)) {
    if (timer_first) {
      fire_timer();
    } else {
      backlog_.emplace_back([this] { fire_timer(); });
    }
  }
  std::deque<EventQueue::Action> backlog = std::exchange(backlog_, {});
  for (EventQueue::Action& action : backlog) {
    if (life != life_) return;
    action();
  }
}

void SimNode::input(EventQueue::Action action) {
  if (!running()) return;
  if (paused_) {
    backlog_.push_back(std::move(action));
  } else {
    action();
  }
}

void SimNode::after_input() {
  if (!node_) return;
  if (stop_reason_) {
    end_life(EventKind::kStop, *stop_reason_);
  } else {
    arm_timer();
  }
}

void SimNode::arm_timer() {
  const Instant next = node_->next_deadline();
  if (next == kNever) return;
  const Instant due = std::max(next - boot_, world_.queue.now());
  if (timer_ && *timer_ <= due) return;
  timer_ = due;
  // A real timer is late by some part of a millisecond.
  world_.queue.at(due + Duration(chaos_.range(0, 1000)), [this, due, life = life_] {
    if (life != life_ || timer_ != due) return;
    timer_.reset();
    if (paused_) {
      timer_missed_ = true;
    } else {
      fire_timer();
    }
  });
}

void SimNode::fire_timer() {
  if (node_->next_deadline() <= now().at) {
    record(EventKind::kTime);
    node_->on_time(now());
  }
  after_input();
}

void SimNode::command(node::RequestId id, node::Request request) {
  assert(running());
  input([this, id, asked = std::move(request)]() mutable {
    record(EventKind::kCommand, {reinterpret_cast<const char*>(&id), sizeof(id)});
    if (world_.trace.verbose()) {
      world_.trace.say(world_.queue.now(), index_,
                       "is asked #" + std::to_string(id) + " " + describe(asked));
    }
    node_->on_command(id, std::move(asked), now());
    after_input();
  });
}

void SimNode::lose_client(node::RequestId id) {
  input([this, id] {
    record(EventKind::kClientLost, {reinterpret_cast<const char*>(&id), sizeof(id)});
    node_->on_client_lost(id);
    after_input();
  });
}

bool SimNode::on_bytes(node::Channel channel, std::string_view bytes) {
  if (!paused_) return receive(channel, bytes);
  if (channel == node::Channel::kDatagram && ++paused_datagrams_ > kPausedDatagramsMax) return true;
  input([this, channel, kept = std::string(bytes)] { (void)receive(channel, kept); });
  return true;
}

bool SimNode::receive(node::Channel channel, std::string_view bytes) {
  record(EventKind::kMessage, bytes);
  const auto sink = [this](pb::Envelope& message) {
    if (node_) deliver(message);
  };
  const node::FrameError error = channel == node::Channel::kDatagram
                                     ? node::FrameReader::read_datagram(bytes, cluster_id_, sink)
                                     : node::FrameReader().feed(bytes, cluster_id_, sink);
  if (error != node::FrameError::kNone && world_.trace.verbose()) {
    world_.trace.say(world_.queue.now(), index_, std::string("refused: ") + to_string(error));
  }
  return error == node::FrameError::kNone;
}

void SimNode::deliver(pb::Envelope& message) {
  if (world_.trace.verbose() && !message.has_gossip()) {
    world_.trace.say(world_.queue.now(), index_, "<- " + message.ShortDebugString());
  }
  if (bug_ != PlantedBug::kNone && forge(message)) return;
  node_->on_peer_message(message, now());
  after_input();
}

bool SimNode::forge(const pb::Envelope& message) {
  pb::Envelope reply;
  if (bug_ == PlantedBug::kAbort && message.has_merge()) std::abort();
  if (bug_ == PlantedBug::kForgeAcknowledgement && message.has_merge()) {
    if (!chaos_.chance(300'000)) return false;
    reply.mutable_merge_reply()->set_operation(message.merge().operation());
    reply.mutable_merge_reply()->set_epoch(message.merge().epoch());
  } else if (bug_ == PlantedBug::kForgeAbsence && message.has_read()) {
    if (!chaos_.chance(300'000)) return false;
    reply.mutable_read_reply()->set_operation(message.read().operation());
    reply.mutable_read_reply()->set_epoch(message.read().epoch());
  } else {
    return false;
  }
  reply.set_hlc(message.hlc());
  reply.set_sender(config_.peer.to_bytes());
  reply.set_from(self_);
  send(Address::from_bytes(message.sender()), node::Channel::kStream, reply);
  return true;
}

void SimNode::on_stream_lost(const Address& peer) {
  input([this, peer] {
    record(EventKind::kPeerLost, peer.to_bytes());
    if (world_.trace.verbose()) {
      world_.trace.say(world_.queue.now(), index_, "lost the stream to " + peer.to_string());
    }
    node_->on_peer_lost(peer, now());
    after_input();
  });
}

void SimNode::send(const Address& to, node::Channel channel, const pb::Envelope& message) {
  if (message.has_gossip()) {
    world_.host.on_epoch_spoken(index_, message.gossip().topology_epoch(),
                                message.gossip().topology_digest());
  }
  self_ = message.from();
  std::string bytes;
  node::FrameWriter writer(bytes);
  writer.append(message, cluster_id_);
  writer.finish();
  if (channel == node::Channel::kDatagram && bytes.size() > node::kDatagramBytesMax) {
    world_.host.on_violation(index_, "a datagram of " + std::to_string(bytes.size()) + " bytes");
  }
  world_.network.send(index_, to, channel, std::move(bytes));
}

void SimNode::submit(storage::StorageRequest request) {
  disk_.submit(std::move(request));
}

void SimNode::answer(node::RequestId id, node::Reply reply) {
  record(EventKind::kAnswer, {reinterpret_cast<const char*>(&id), sizeof(id)});
  if (world_.trace.verbose()) {
    world_.trace.say(world_.queue.now(), index_,
                     "answers #" + std::to_string(id) + " " + describe(reply));
  }
  world_.host.on_answer(index_, id, std::move(reply));
}

void SimNode::log(node::LogLevel level, std::string_view text) {
  if (!world_.trace.verbose()) return;
  static constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
  world_.trace.say(world_.queue.now(), index_,
                   std::string(kNames[static_cast<size_t>(level)]) + ": " + std::string(text));
}

void SimNode::stop(node::ExitCode code, std::string_view reason) {
  stop_reason_ = "exit " + std::to_string(static_cast<int>(code)) + ": " + std::string(reason);
}

}  // namespace torc::sim
