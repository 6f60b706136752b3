// ClientConnection: one client's socket around its resp::Session. It reads while the session wants
// bytes, and writes the session's output once per turn of the loop. Owned by ClientServer, on the
// loop's thread.
#pragma once

#include <uv.h>

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/resp/session.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/socket_writer.h"
#include "daemon/shell/uv_handle.h"

namespace torc::shell {

class ClientConnection : private resp::SessionEnv {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void on_client_command(node::RequestId id, node::Request request) = 0;
    // flush() is to be called before the loop sleeps.
    virtual void on_client_dirty(uint32_t id) = 0;
  };

  // Of an accepted socket.
  ClientConnection(UvHandle<uv_tcp_t> socket, uint32_t id, const std::string& version,
                   ReadBuffer& buffer, Owner& owner);

  bool start_reading();
  void on_reply(node::RequestId id, node::Reply reply);
  // False: the connection is over and to be destroyed.
  bool flush();
  // Memory of what was received and is not yet understood, and of what was said and is not yet
  // sent.
  size_t held_bytes();
  // The held bytes as its owner last counted them.
  size_t counted_bytes = 0;

  // Everything is answered and said; only the other side's end is awaited.
  bool is_draining() const { return state_ == State::kDraining; }
  uint64_t draining_since_ms() const { return draining_since_ms_; }

 private:
  enum class State {
    kOpen,
    kHalfClosed,  // the client has sent its last byte; answers still go out
    kDraining,    // our last byte is out; what still comes in is thrown away
    kBroken,
  };

  void submit(node::RequestId id, node::Request request) override;
  void on_read(ssize_t bytes, const char* data);
  void stop_reading();
  void drain();
  void mark_dirty();

  const uint32_t id_;
  ReadBuffer& buffer_;
  Owner& owner_;
  State state_ = State::kOpen;
  bool dirty_ = false;
  bool reading_ = false;
  bool paused_ = false;     // the session did not want bytes
  uint32_t running_ = 0;    // requests without a reply
  size_t thrown_away_ = 0;  // bytes, while draining
  uint64_t draining_since_ms_ = 0;
  UvHandle<uv_tcp_t> socket_;
  SocketWriter writer_;
  resp::Session session_;
};

}  // namespace torc::shell
