#include "daemon/shell/client_connection.h"

#include <cassert>
#include <memory>
#include <string_view>
#include <utility>

#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

// A session may have to keep what one read brought, so a read is small beside its other limits.
constexpr size_t kReadBytesMax = 64 * 1024;
// What a client that was told good-bye may still send before it is cut off.
constexpr size_t kThrownAwayBytesMax = 16 * 1024 * 1024;

}  // namespace

ClientConnection::ClientConnection(UvHandle<uv_tcp_t> socket, uint32_t id,
                                   const std::string& version, ReadBuffer& buffer, Owner& owner)
    : id_(id),
      buffer_(buffer),
      owner_(owner),
      socket_(std::move(socket)),
      writer_(as_stream(socket_.get()),
              [this](int error) {
                if (error != 0) state_ = State::kBroken;
                mark_dirty();
              }),
      session_({id, remote_address(socket_.get()).to_string(),
                local_address(socket_.get()).to_string(), version},
               {}, *this) {
  socket_->data = this;
}

bool ClientConnection::start_reading() {
  reading_ = uv_read_start(
                 as_stream(socket_.get()),
                 [](uv_handle_t* handle, size_t, uv_buf_t* out) {
                   *out =
                       static_cast<ClientConnection*>(handle->data)->buffer_.slice(kReadBytesMax);
                 },
                 [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t* read) {
                   static_cast<ClientConnection*>(stream->data)->on_read(bytes, read->base);
                 }) == 0;
  return reading_;
}

void ClientConnection::stop_reading() {
  if (reading_) uv_read_stop(as_stream(socket_.get()));
  reading_ = false;
}

void ClientConnection::mark_dirty() {
  if (dirty_) return;
  dirty_ = true;
  owner_.on_client_dirty(id_);
}

void ClientConnection::submit(node::RequestId id, node::Request request) {
  ++running_;
  owner_.on_client_command(id, std::move(request));
}

void ClientConnection::on_reply(node::RequestId id, node::Reply reply) {
  assert(running_ > 0);
  --running_;
  session_.on_reply(id, std::move(reply));
  mark_dirty();
}

void ClientConnection::on_read(ssize_t bytes, const char* data) {
  if (bytes == 0) return;
  mark_dirty();
  if (bytes < 0) {
    stop_reading();
    const bool ended_well = bytes == UV_EOF && state_ == State::kOpen;
    state_ = ended_well ? State::kHalfClosed : State::kBroken;
    return;
  }
  if (state_ == State::kDraining) {
    thrown_away_ += static_cast<size_t>(bytes);
    if (thrown_away_ > kThrownAwayBytesMax) state_ = State::kBroken;
    return;
  }
  session_.on_bytes(std::string_view(data, static_cast<size_t>(bytes)));
  if (!session_.wants_bytes() || session_.closing()) {
    stop_reading();
    paused_ = true;
  }
}

bool ClientConnection::flush() {
  dirty_ = false;
  if (state_ == State::kDraining) return true;
  while (true) {
    if (state_ == State::kBroken || session_.overflowed()) return false;
    if (!writer_.busy() && !writer_.write(session_.output())) return false;
    if (!paused_ || session_.closing() || !session_.wants_bytes()) break;
    // There is room again for what was received before; it may fill the output or the pipeline
    // anew.
    paused_ = false;
    session_.resume();
    if (!session_.wants_bytes() || session_.closing()) {
      paused_ = true;
    } else if (state_ == State::kOpen && !start_reading()) {
      return false;
    }
  }
  const bool all_said = running_ == 0 && session_.output().empty() && !writer_.busy();
  if (!all_said) return true;
  if (session_.closing()) {
    if (state_ != State::kOpen) return false;
    drain();
    return state_ != State::kBroken;
  }
  return state_ != State::kHalfClosed || paused_;
}

size_t ClientConnection::held_bytes() {
  return session_.input_capacity() + session_.output().capacity() + writer_.bytes_under_way();
}

// Closing at once would make the kernel throw away our last words if the client was still sending.
void ClientConnection::drain() {
  state_ = State::kDraining;
  draining_since_ms_ = uv_now(socket_->loop);
  auto request = std::make_unique<uv_shutdown_t>();
  const int error = uv_shutdown(request.get(), as_stream(socket_.get()),
                                [](uv_shutdown_t* done, int) { delete done; });
  if (error != 0) {
    state_ = State::kBroken;
    return;
  }
  static_cast<void>(request.release());
  if (!reading_ && !start_reading()) state_ = State::kBroken;
}

}  // namespace torc::shell
