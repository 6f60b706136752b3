#include "daemon/shell/client_server.h"

#include <string_view>
#include <utility>

#include "daemon/shell/socket_address.h"
#include "daemon/shell/socket_options.h"

namespace torc::shell {
namespace {

constexpr int kBacklog = 1024;
constexpr uint64_t kSweepMs = 250;
constexpr std::string_view kTooMany = "-ERR max number of clients reached\r\n";

}  // namespace

ClientServer::ClientServer(uv_loop_t* loop, ReadBuffer& buffer, const ClientLimits& limits,
                           std::string version, CommandSink& sink)
    : loop_(loop),
      buffer_(buffer),
      limits_(limits),
      version_(std::move(version)),
      sink_(sink),
      sweeper_(make_handle(uv_timer_init, loop, this)) {
  uv_timer_start(
      sweeper_.get(), [](uv_timer_t* timer) { static_cast<ClientServer*>(timer->data)->sweep(); },
      kSweepMs, kSweepMs);
}

ClientServer::~ClientServer() = default;

std::expected<Address, std::string> ClientServer::listen(const Address& address) {
  listener_ = make_handle(uv_tcp_init, loop_, this);
  const sockaddr_storage storage = to_sockaddr(address);
  int error = uv_tcp_bind(listener_.get(), reinterpret_cast<const sockaddr*>(&storage), 0);
  if (error == 0) {
    error = uv_listen(as_stream(listener_.get()), kBacklog, [](uv_stream_t* listener, int status) {
      if (status == 0) static_cast<ClientServer*>(listener->data)->accept();
    });
  }
  if (error != 0) {
    listener_.reset();
    return std::unexpected(socket_error("cannot listen for clients on", address, error));
  }
  return local_address(listener_.get());
}

void ClientServer::accept() {
  auto socket = make_handle(uv_tcp_init, loop_, this);
  if (uv_accept(as_stream(listener_.get()), as_stream(socket.get())) != 0) return;
  if (connections_.size() >= limits_.clients_max) {
    ++stats_.refused;
    std::string words(kTooMany);
    const uv_buf_t buffer = uv_buf_init(words.data(), static_cast<unsigned>(words.size()));
    uv_try_write(as_stream(socket.get()), &buffer, 1);
    return;
  }
  set_stream_options(socket.get(), limits_.stalled_ms_max);

  do {
    ++last_id_;
  } while (last_id_ == kNoClient || connections_.contains(last_id_));
  auto connection = std::make_unique<ClientConnection>(
      std::move(socket), last_id_, version_, buffer_, static_cast<ClientConnection::Owner&>(*this));
  if (!connection->start_reading()) return;
  ++stats_.accepted;
  connections_.emplace(last_id_, std::move(connection));
}

void ClientServer::on_client_command(node::RequestId id, node::Request request) {
  ++stats_.commands;
  sink_.on_command(id, std::move(request));
}

void ClientServer::on_reply(node::RequestId id, node::Reply reply) {
  const auto at = connections_.find(static_cast<uint32_t>(id >> 32));
  if (at != connections_.end()) at->second->on_reply(id, std::move(reply));
}

void ClientServer::flush() {
  flushing_.swap(dirty_);
  for (const uint32_t id : flushing_) {
    const auto at = connections_.find(id);
    if (at != connections_.end() && !at->second->flush()) connections_.erase(at);
  }
  flushing_.clear();
}

void ClientServer::sweep() {
  const uint64_t now_ms = uv_now(loop_);
  std::erase_if(connections_, [&](const auto& entry) {
    const ClientConnection& connection = *entry.second;
    return connection.is_draining() &&
           now_ms - connection.draining_since_ms() > limits_.drain_ms_max;
  });
}

ClientStats ClientServer::stats() const {
  ClientStats stats = stats_;
  stats.connected = connections_.size();
  return stats;
}

}  // namespace torc::shell
