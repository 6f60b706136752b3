#include "daemon/shell/outgoing_link.h"

#include <algorithm>

#include "daemon/shell/socket_address.h"
#include "daemon/shell/socket_options.h"

namespace torc::shell {
namespace {

// Nothing is ever read from an outgoing link; the buffer serves to notice its end.
char unwanted_bytes[16];

}  // namespace

OutgoingLink::OutgoingLink(uv_loop_t* loop, const Address& to, const OutgoingLimits& limits,
                           Owner& owner)
    : loop_(loop),
      to_(to),
      limits_(limits),
      owner_(owner),
      last_used_ms_(uv_now(loop)),
      backoff_ms_(limits.backoff_ms_min),
      timer_(make_handle(uv_timer_init, loop, this)) {}

bool OutgoingLink::send(const pb::Envelope& message, uint64_t cluster_id) {
  if (queued_bytes() >= limits_.queue_bytes_max) return false;
  frames_.append(message, cluster_id);
  mark_dirty();
  return true;
}

void OutgoingLink::mark_dirty() {
  if (dirty_) return;
  dirty_ = true;
  last_used_ms_ = uv_now(loop_);
  owner_.on_link_dirty(*this);
}

void OutgoingLink::flush() {
  dirty_ = false;
  if (queue_.empty()) return;
  if (state_ == State::kIdle) connect();
  if (state_ != State::kConnected || writer_->busy()) return;
  frames_.finish();
  if (!writer_->write(queue_)) lose("broken");
}

void OutgoingLink::connect() {
  socket_ = make_handle(uv_tcp_init, loop_, this);
  const sockaddr_storage address = to_sockaddr(to_);
  auto request = std::make_unique<uv_connect_t>();
  const int error =
      uv_tcp_connect(request.get(), socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                     [](uv_connect_t* done, int status) {
                       const std::unique_ptr<uv_connect_t> ended(done);
                       if (auto* link = static_cast<OutgoingLink*>(done->handle->data)) {
                         link->on_connected(status);
                       }
                     });
  if (error != 0) {
    lose(uv_strerror(error));
    return;
  }
  static_cast<void>(request.release());
  state_ = State::kConnecting;
  start_timer(limits_.connect_ms_max);
}

void OutgoingLink::on_connected(int status) {
  if (status != 0) {
    lose(uv_strerror(status));
    return;
  }
  uv_timer_stop(timer_.get());
  set_stream_options(socket_.get(), limits_.stalled_ms_max);
  const int error = uv_read_start(
      as_stream(socket_.get()),
      [](uv_handle_t*, size_t, uv_buf_t* buffer) {
        *buffer = uv_buf_init(unwanted_bytes, sizeof unwanted_bytes);
      },
      [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t*) {
        if (bytes == 0) return;
        static_cast<OutgoingLink*>(stream->data)
            ->lose(bytes < 0 ? uv_strerror(static_cast<int>(bytes))
                             : "the peer wrote on a one-way stream");
      });
  if (error != 0) {
    lose(uv_strerror(error));
    return;
  }
  state_ = State::kConnected;
  connected_at_ms_ = uv_now(loop_);
  writer_.emplace(as_stream(socket_.get()), [this](int result) {
    if (result != 0) {
      lose(uv_strerror(result));
    } else {
      mark_dirty();
    }
  });
  mark_dirty();
}

void OutgoingLink::start_timer(uint64_t ms) {
  uv_timer_start(
      timer_.get(), [](uv_timer_t* timer) { static_cast<OutgoingLink*>(timer->data)->on_timer(); },
      ms, 0);
}

void OutgoingLink::on_timer() {
  if (state_ == State::kConnecting) {
    lose("no answer to the connection attempt");
    return;
  }
  state_ = State::kIdle;
  if (!queue_.empty()) mark_dirty();
}

void OutgoingLink::lose(const char* reason) {
  // A connection that lasted proves that the peer was there; one that breaks at once does not.
  if (state_ == State::kConnected && uv_now(loop_) - connected_at_ms_ >= limits_.backoff_ms_max) {
    backoff_ms_ = limits_.backoff_ms_min;
  }
  writer_.reset();
  socket_.reset();
  frames_.finish();
  std::string().swap(queue_);
  state_ = State::kBackoff;
  start_timer(backoff_ms_);
  backoff_ms_ = std::min(backoff_ms_ * 2, limits_.backoff_ms_max);
  owner_.on_link_lost(*this, reason);
}

}  // namespace torc::shell
