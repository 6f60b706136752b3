#include "daemon/shell/gossip_socket.h"

#include <spdlog/spdlog.h>

#include <memory>

#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

// Datagrams that wait for the kernel; more are lost, as datagrams may be.
constexpr size_t kWaitingMax = 256;

struct SendRequest {
  uv_udp_send_t send{};
  std::string bytes;
};

int init_udp(uv_loop_t* loop, uv_udp_t* udp) {
  return uv_udp_init_ex(loop, udp, AF_UNSPEC | UV_UDP_RECVMMSG);
}

}  // namespace

GossipSocket::GossipSocket(uv_loop_t* loop, ReadBuffer& buffer, Sink sink)
    : buffer_(buffer),
      sink_([this, sink = std::move(sink)](pb::Envelope& message) {
        ++stats_.received;
        sink(message);
      }),
      socket_(make_handle(init_udp, loop, this)) {}

std::expected<Address, std::string> GossipSocket::listen(const Address& address) {
  const sockaddr_storage storage = to_sockaddr(address);
  is_v6_ = !address.is_v4();
  int error = uv_udp_bind(socket_.get(), reinterpret_cast<const sockaddr*>(&storage), 0);
  if (error == 0) {
    error = uv_udp_recv_start(
        socket_.get(),
        [](uv_handle_t* handle, size_t, uv_buf_t* out) {
          *out = static_cast<GossipSocket*>(handle->data)->buffer_.slice();
        },
        [](uv_udp_t* udp, ssize_t bytes, const uv_buf_t* read, const sockaddr* from, unsigned) {
          if (bytes < 0 || from == nullptr) return;
          static_cast<GossipSocket*>(udp->data)->on_datagram(
              std::string_view(read->base, static_cast<size_t>(bytes)));
        });
  }
  if (error != 0) {
    return std::unexpected(socket_error("cannot listen for gossip on", address, error));
  }
  sockaddr_storage bound{};
  int bytes = sizeof bound;
  uv_udp_getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &bytes);
  return from_sockaddr(reinterpret_cast<const sockaddr*>(&bound));
}

void GossipSocket::on_datagram(std::string_view bytes) {
  const node::FrameError error = node::FrameReader::read_datagram(bytes, cluster_id_, sink_);
  if (error != node::FrameError::kNone) ++stats_.errors;
}

void GossipSocket::send(const Address& to, const pb::Envelope& message) {
  frame_.clear();
  node::FrameWriter writer(frame_);
  writer.append(message, cluster_id_);
  writer.finish();
  if (!to || frame_.size() > node::kDatagramBytesMax) {
    ++stats_.dropped;
    spdlog::error("a datagram of {} bytes to {} was not sent", frame_.size(), to.to_string());
    return;
  }

  const sockaddr_storage storage = to_sockaddr(to, is_v6_);
  const auto* address = reinterpret_cast<const sockaddr*>(&storage);
  uv_buf_t buffer = uv_buf_init(frame_.data(), static_cast<unsigned>(frame_.size()));
  const int sent = uv_udp_try_send(socket_.get(), &buffer, 1, address);
  if (sent >= 0) {
    ++stats_.sent;
    return;
  }
  if (sent != UV_EAGAIN || uv_udp_get_send_queue_count(socket_.get()) >= kWaitingMax) {
    ++stats_.dropped;
    return;
  }
  auto request = std::make_unique<SendRequest>();
  request->bytes = frame_;
  request->send.data = request.get();
  buffer = uv_buf_init(request->bytes.data(), static_cast<unsigned>(request->bytes.size()));
  const int error =
      uv_udp_send(&request->send, socket_.get(), &buffer, 1, address,
                  [](uv_udp_send_t* done, int) { delete static_cast<SendRequest*>(done->data); });
  if (error != 0) {
    ++stats_.dropped;
    return;
  }
  ++stats_.sent;
  static_cast<void>(request.release());
}

}  // namespace torc::shell
