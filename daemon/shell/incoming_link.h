// IncomingLink: a connection another daemon made to us; it is only read. Whole messages go to the
// transport in order, and the first wrong byte ends the connection. Owned by PeerTransport, on the
// loop's thread.
#pragma once

#include <uv.h>

#include <cstdint>

#include "daemon/node/frame.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/uv_handle.h"

namespace torc::shell {

class IncomingLink {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual uint64_t cluster_id() const = 0;
    virtual const node::FrameReader::Sink& message_sink() const = 0;
    virtual uint64_t messages_received() const = 0;  // by the sink so far
    // kNone: the other side closed. The link is destroyed within the call.
    virtual void on_link_end(uint64_t id, node::FrameError error) = 0;
  };

  // Takes a connection from `listener`. is_open() tells whether that went well.
  IncomingLink(uint64_t id, uv_stream_t* listener, ReadBuffer& buffer, Owner& owner);

  bool is_open() const { return open_; }
  bool has_spoken() const { return has_spoken_; }  // sent a whole message
  uint64_t accepted_at_ms() const { return accepted_at_ms_; }
  const uv_tcp_t* socket() const { return socket_.get(); }

 private:
  void on_read(ssize_t bytes, const char* data);

  const uint64_t id_;
  const uint64_t accepted_at_ms_;
  ReadBuffer& buffer_;
  Owner& owner_;
  bool open_ = false;
  bool has_spoken_ = false;
  node::FrameReader frames_;
  UvHandle<uv_tcp_t> socket_;
};

}  // namespace torc::shell
