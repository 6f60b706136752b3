#include "daemon/shell/socket_writer.h"

#include <algorithm>
#include <cassert>
#include <memory>

namespace torc::shell {
namespace {

// Capacity that a drained string may keep; beyond it, one large value would hold its memory for
// ever.
constexpr size_t kKeptBytesMax = 256 * 1024;
// libuv counts bytes of one buffer in an unsigned int.
constexpr size_t kTryBytesMax = 1 << 30;

}  // namespace

struct SocketWriter::Request {
  uv_write_t write{};
  SocketWriter* writer = nullptr;
  std::string bytes;
};

bool SocketWriter::write(std::string& bytes) {
  assert(!busy());
  if (bytes.empty()) return true;
  assert(bytes.size() <= kTryBytesMax);
  const uv_buf_t all = uv_buf_init(bytes.data(), static_cast<unsigned>(bytes.size()));
  const int taken = uv_try_write(stream_, &all, 1);
  if (taken < 0 && taken != UV_EAGAIN) return false;
  const auto written = static_cast<size_t>(std::max(taken, 0));
  if (written == bytes.size()) {
    if (bytes.capacity() > kKeptBytesMax) {
      std::string().swap(bytes);
    } else {
      bytes.clear();
    }
    return true;
  }

  auto request = std::make_unique<Request>();
  request->writer = this;
  request->bytes.swap(bytes);
  request->write.data = request.get();
  bytes_under_way_ = request->bytes.size() - written;
  const uv_buf_t rest =
      uv_buf_init(request->bytes.data() + written, static_cast<unsigned>(bytes_under_way_));
  const int error = uv_write(&request->write, stream_, &rest, 1, [](uv_write_t* done, int status) {
    const std::unique_ptr<Request> ended(static_cast<Request*>(done->data));
    if (done->handle->data == nullptr) return;  // the connection is gone, and the writer with it
    ended->writer->bytes_under_way_ = 0;
    const auto on_done = ended->writer->on_done_;  // it may destroy the writer
    on_done(status);
  });
  if (error != 0) {
    bytes_under_way_ = 0;
    return false;
  }
  static_cast<void>(request.release());
  return true;
}

}  // namespace torc::shell
