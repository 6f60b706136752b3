#include "daemon/shell/event_loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace torc::shell {
namespace {

constexpr uint64_t kTickMs = 1000;
// How long a stopping daemon waits for its last words to leave.
constexpr uint64_t kDrainMsMax = 500;
// Rounds in which answers may lead to new requests that are answered at once, before sockets get
// their turn.
constexpr int kAnswerRoundsMax = 16;

std::mt19937_64 seeded_random() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device(),
                     device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

}  // namespace

EventLoop::EventLoop(EventLoopConfig config)
    : config_(std::move(config)),
      random_(seeded_random()),
      board_([this] { uv_async_send(wake_.get()); }) {
  uv_loop_init(&loop_);
  before_sleep_ = make_handle(uv_prepare_init, &loop_, this);
  uv_prepare_start(before_sleep_.get(),
                   [](uv_prepare_t* handle) { static_cast<EventLoop*>(handle->data)->flush(); });
  const auto init_wake = [](uv_loop_t* loop, uv_async_t* async) {
    return uv_async_init(
        loop, async, [](uv_async_t* handle) { static_cast<EventLoop*>(handle->data)->on_wake(); });
  };
  wake_ = make_handle(+init_wake, &loop_, this);
  timer_ = make_handle(uv_timer_init, &loop_, this);
  ticker_ = make_handle(uv_timer_init, &loop_, this);
  uv_timer_start(
      ticker_.get(), [](uv_timer_t* timer) { static_cast<EventLoop*>(timer->data)->publish(); }, 0,
      kTickMs);

  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
  const auto on_signal = [](uv_signal_t* handle, int number) {
    static_cast<EventLoop*>(handle->data)->on_signal(number);
  };
  sigterm_ = make_handle(uv_signal_init, &loop_, this);
  uv_signal_start(sigterm_.get(), on_signal, SIGTERM);
  sigint_ = make_handle(uv_signal_init, &loop_, this);
  uv_signal_start(sigint_.get(), on_signal, SIGINT);

  peers_ = std::make_unique<PeerTransport>(&loop_, buffer_, config_.peers,
                                           static_cast<PeerEvents&>(*this));
  gossip_ = std::make_unique<GossipSocket>(&loop_, buffer_,
                                           [this](pb::Envelope& message) { on_message(message); });
  clients_ = std::make_unique<ClientServer>(&loop_, buffer_, config_.clients, config_.node.version,
                                            static_cast<CommandSink&>(*this));
  node_ = std::make_unique<node::Node>(config_.node, static_cast<node::Env&>(*this));
}

EventLoop::~EventLoop() {
  board_.close();
  http_.reset();
  storage_.reset();
  node_.reset();
  clients_.reset();
  gossip_.reset();
  peers_.reset();
  before_sleep_.reset();
  wake_.reset();
  timer_.reset();
  ticker_.reset();
  sigterm_.reset();
  sigint_.reset();
  uv_run(&loop_, UV_RUN_DEFAULT);  // lets go of every handle
  uv_loop_close(&loop_);
}

std::expected<std::unique_ptr<EventLoop>, std::string> EventLoop::open(
    EventLoopConfig config, storage::BatchExecutor& executor) {
  std::unique_ptr<EventLoop> loop(new EventLoop(std::move(config)));
  if (auto listening = loop->listen(executor); !listening) {
    return std::unexpected(std::move(listening.error()));
  }
  return loop;
}

std::expected<void, std::string> EventLoop::listen(storage::BatchExecutor& executor) {
  for (auto&& bound : {peers_->listen(config_.peer), gossip_->listen(config_.peer),
                       clients_->listen(config_.client)}) {
    if (!bound) return std::unexpected(bound.error());
  }
  auto http = HttpStatus::open(config_.http, board_);
  if (!http) return std::unexpected(std::move(http.error()));
  http_ = *std::move(http);
  storage_ = std::make_unique<StorageQueue>(executor, config_.durability_sync,
                                            [this] { uv_async_send(wake_.get()); });
  return {};
}

node::ExitCode EventLoop::run() {
  node_->start(now());
  uv_run(&loop_, UV_RUN_DEFAULT);
  board_.close();
  for (const auto& [id, question] : questions_) {
    question->set_value(std::unexpected("the daemon is stopping"));
  }
  if (const Status durable = storage_->stop(); !durable.ok()) {
    spdlog::error("the last writes may not be durable: {}", durable.message());
    if (exit_code_ == node::ExitCode::kStopped) exit_code_ = node::ExitCode::kFailed;
  }
  return exit_code_;
}

const Now& EventLoop::now() {
  if (!turn_at_) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    turn_at_ = Now{Instant(Duration(uv_hrtime() / 1000)),
                   std::chrono::duration_cast<std::chrono::milliseconds>(wall).count()};
  }
  return *turn_at_;
}

// ---- what the Node asks for

void EventLoop::send(const Address& to, node::Channel channel, const pb::Envelope& message) {
  if (channel == node::Channel::kStream) {
    peers_->send(to, message);
  } else {
    gossip_->send(to, message);
  }
}

void EventLoop::submit(storage::StorageRequest request) {
  storage_requests_.push_back(std::move(request));
}

void EventLoop::answer(node::RequestId request, node::Reply reply) {
  answers_.emplace_back(request, std::move(reply));
}

void EventLoop::set_cluster(uint64_t cluster_id) {
  peers_->set_cluster(cluster_id);
  gossip_->set_cluster(cluster_id);
}

void EventLoop::log(node::LogLevel level, std::string_view text) {
  constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                   spdlog::level::warn, spdlog::level::err};
  spdlog::log(kLevels[static_cast<size_t>(level)], "{}", text);
}

void EventLoop::stop(node::ExitCode code, std::string_view reason) {
  if (!running_) return;
  spdlog::log(code == node::ExitCode::kStopped ? spdlog::level::info : spdlog::level::err,
              "stopping: {}", reason);
  running_ = false;
  exit_code_ = code;
  stopping_since_ms_ = uv_now(&loop_);
}

// ---- what the Node hears

void EventLoop::on_message(pb::Envelope& message) {
  if (running_) node_->on_peer_message(message, now());
}

void EventLoop::on_command(node::RequestId id, node::Request request) {
  if (running_) node_->on_command(id, std::move(request), now());
}

void EventLoop::on_wake() {
  storage_->take_completed(storage_results_);
  for (storage::StorageResult& result : storage_results_) {
    if (!running_) break;
    node_->on_storage_done(std::move(result), now());
  }
  storage_results_.clear();

  for (StatusBoard::Question& question : board_.take_questions()) {
    const node::RequestId id = uint64_t{ClientServer::kNoClient} << 32 | ++last_question_;
    questions_.insert_or_assign(id, std::move(question));
    on_command(id, node::StatusRequest{});
  }
}

void EventLoop::on_timer() {
  armed_for_ = kNever;
  if (running_ && node_->next_deadline() <= now().at) node_->on_time(now());
}

void EventLoop::on_signal(int number) {
  if (!running_) return;
  node_->shutdown(now());
  stop(node::ExitCode::kStopped, number == SIGTERM ? "SIGTERM" : "SIGINT");
}

// ---- once per turn, before the loop sleeps

void EventLoop::flush() {
  deliver_lost();
  for (int round = 0; round < kAnswerRoundsMax; ++round) {
    deliver_answers();
    clients_->flush();
    if (answers_.empty()) break;
  }
  peers_->flush();
  if (!storage_requests_.empty()) storage_->submit(storage_requests_);

  if (!answers_.empty() || !lost_.empty()) uv_async_send(wake_.get());
  if (running_) {
    arm_timer();
  } else {
    end_when_drained();
  }
  turn_at_.reset();
}

void EventLoop::deliver_lost() {
  if (lost_.empty()) return;
  for (const Address& peer : std::exchange(lost_, {})) {
    if (running_) node_->on_peer_lost(peer, now());
  }
}

void EventLoop::deliver_answers() {
  if (answers_.empty()) return;
  auto batch = std::exchange(answers_, {});
  for (auto& [id, reply] : batch) {
    if (id >> 32 != ClientServer::kNoClient) {
      clients_->on_reply(id, std::move(reply));
      continue;
    }
    const auto question = questions_.extract(id);
    if (question.empty()) continue;
    if (auto* text = std::get_if<node::TextReply>(&reply)) {
      question.mapped()->set_value(std::move(text->text));
    } else if (auto* error = std::get_if<node::ErrorReply>(&reply)) {
      question.mapped()->set_value(std::unexpected(std::move(error->message)));
    }
  }
  // Give the capacity back for the next turn, unless new answers came meanwhile.
  batch.clear();
  if (answers_.empty()) answers_.swap(batch);
}

// The timer is moved only to an earlier time: a later deadline is found when it fires.
void EventLoop::arm_timer() {
  const Instant deadline = node_->next_deadline();
  if (deadline >= armed_for_) return;
  armed_for_ = deadline;
  uv_update_time(&loop_);
  // Not the turn's time: the turn may have been long.
  const Instant at{Duration(uv_hrtime() / 1000)};
  const Duration wait = std::max(deadline - at, Duration(0));
  uv_timer_start(
      timer_.get(), [](uv_timer_t* timer) { static_cast<EventLoop*>(timer->data)->on_timer(); },
      static_cast<uint64_t>(std::chrono::ceil<std::chrono::milliseconds>(wait).count()), 0);
}

void EventLoop::publish() {
  MetricsSnapshot snapshot;
  snapshot.node = node_->metrics();
  snapshot.peers = peers_->stats();
  snapshot.gossip = gossip_->stats();
  snapshot.clients = clients_->stats();
  snapshot.storage = storage_->counters();
  board_.publish(snapshot);
}

void EventLoop::end_when_drained() {
  peers_->stop_listening();
  clients_->stop_listening();
  if (peers_->is_drained() || uv_now(&loop_) - *stopping_since_ms_ >= kDrainMsMax) {
    uv_stop(&loop_);
    return;
  }
  // Comes round again by itself when a write ends, and at the latest after this.
  uv_timer_start(timer_.get(), [](uv_timer_t*) {}, kDrainMsMax, 0);
}

}  // namespace torc::shell
