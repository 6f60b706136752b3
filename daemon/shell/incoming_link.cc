#include "daemon/shell/incoming_link.h"

#include <string_view>

#include "daemon/shell/socket_options.h"

namespace torc::shell {
namespace {

// Nothing is written here, so this bounds only how long a vanished peer goes unnoticed.
constexpr unsigned kStalledMsMax = 60'000;

}  // namespace

IncomingLink::IncomingLink(uint64_t id, uv_stream_t* listener, ReadBuffer& buffer, Owner& owner)
    : id_(id),
      accepted_at_ms_(uv_now(listener->loop)),
      buffer_(buffer),
      owner_(owner),
      socket_(make_handle(uv_tcp_init, listener->loop, this)) {
  if (uv_accept(listener, as_stream(socket_.get())) != 0) return;
  set_stream_options(socket_.get(), kStalledMsMax);
  open_ = uv_read_start(
              as_stream(socket_.get()),
              [](uv_handle_t* handle, size_t, uv_buf_t* out) {
                *out = static_cast<IncomingLink*>(handle->data)->buffer_.slice();
              },
              [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t* read) {
                static_cast<IncomingLink*>(stream->data)->on_read(bytes, read->base);
              }) == 0;
}

void IncomingLink::on_read(ssize_t bytes, const char* data) {
  if (bytes == 0) return;
  if (bytes < 0) {
    owner_.on_link_end(id_, node::FrameError::kNone);
    return;
  }
  const uint64_t received_before = owner_.messages_received();
  const node::FrameError error = frames_.feed(std::string_view(data, static_cast<size_t>(bytes)),
                                              owner_.cluster_id(), owner_.message_sink());
  has_spoken_ |= owner_.messages_received() != received_before;
  if (error != node::FrameError::kNone) owner_.on_link_end(id_, error);
}

}  // namespace torc::shell
