// SocketWriter: writes whole byte strings to one stream, at once as far as the kernel takes them,
// the rest when it can. At most one write is under way, and its bytes are moved, never copied.
// Owned by a connection, on the loop's thread; the stream's `data` must be non-null while the
// writer lives.
#pragma once

#include <uv.h>

#include <functional>
#include <string>

namespace torc::shell {

class SocketWriter {
 public:
  // `on_done` hears that a write under way has ended, with 0 or a libuv error; never from within
  // write().
  SocketWriter(uv_stream_t* stream, std::function<void(int)> on_done)
      : stream_(stream), on_done_(std::move(on_done)) {}
  SocketWriter(const SocketWriter&) = delete;
  SocketWriter& operator=(const SocketWriter&) = delete;

  bool busy() const { return bytes_under_way_ > 0; }
  size_t bytes_under_way() const { return bytes_under_way_; }

  // Takes all of `bytes` and leaves it empty. False: the stream is broken. REQUIRES: !busy().
  bool write(std::string& bytes);

 private:
  struct Request;

  uv_stream_t* stream_;
  std::function<void(int)> on_done_;
  size_t bytes_under_way_ = 0;
};

}  // namespace torc::shell
