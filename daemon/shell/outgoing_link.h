// OutgoingLink: the one-way stream of messages to one address, connected when there is something to
// send. Messages leave in the order of send(); when the connection breaks or cannot be made,
// everything queued is dropped and the owner is told, once per failure. Owned by PeerTransport, on
// the loop's thread.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/node/frame.h"
#include "daemon/shell/socket_writer.h"
#include "daemon/shell/uv_handle.h"
#include "membership/address.h"

namespace torc::shell {

struct OutgoingLimits {
  size_t queue_bytes_max = 64 * 1024 * 1024;
  uint64_t backoff_ms_min = 50;
  uint64_t backoff_ms_max = 1000;
  uint64_t connect_ms_max = 3000;
  unsigned stalled_ms_max = 10'000;  // how long the peer may take nothing
};

class OutgoingLink {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    // flush() is to be called before the loop sleeps.
    virtual void on_link_dirty(OutgoingLink& link) = 0;
    virtual void on_link_lost(OutgoingLink& link, const char* reason) = 0;
  };

  OutgoingLink(uv_loop_t* loop, const Address& to, const OutgoingLimits& limits, Owner& owner);

  // False: the queue is full and the message dropped.
  bool send(const pb::Envelope& message, uint64_t cluster_id);
  // Ends the open frame, so that the next message starts one of its own.
  void finish_frame() { frames_.finish(); }
  void flush();

  const Address& to() const { return to_; }
  size_t queued_bytes() const { return queue_.size() + (writer_ ? writer_->bytes_under_way() : 0); }
  uint64_t last_used_ms() const { return last_used_ms_; }
  bool is_connected() const { return state_ == State::kConnected; }
  // Its owner has been told to flush it, and must not forget it before.
  bool is_dirty() const { return dirty_; }

 private:
  enum class State {
    kIdle,  // no connection, nothing queued since the last one
    kConnecting,
    kConnected,
    kBackoff,  // the last attempt failed; what is queued waits for the next
  };

  void connect();
  void on_connected(int status);
  void on_timer();
  void lose(const char* reason);
  void mark_dirty();
  void start_timer(uint64_t ms);

  uv_loop_t* loop_;
  Address to_;
  const OutgoingLimits& limits_;
  Owner& owner_;

  State state_ = State::kIdle;
  std::string queue_;
  node::FrameWriter frames_{queue_};
  bool dirty_ = false;
  uint64_t last_used_ms_;
  uint64_t connected_at_ms_ = 0;
  uint64_t backoff_ms_;
  UvHandle<uv_timer_t> timer_;
  UvHandle<uv_tcp_t> socket_;
  std::optional<SocketWriter> writer_;  // while connected
};

}  // namespace torc::shell
