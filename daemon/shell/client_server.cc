#include "daemon/shell/client_server.h"

#include <algorithm>
#include <iterator>
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
    if (at == connections_.end()) continue;
    if (at->second->flush()) {
      count_held(*at->second, at->second->held_bytes());
    } else {
      end(at);
    }
  }
  flushing_.clear();
  while (held_bytes_ > limits_.held_bytes_max) cut_off_heaviest();
}

void ClientServer::count_held(ClientConnection& connection, size_t bytes) {
  held_bytes_ += bytes - connection.counted_bytes;
  connection.counted_bytes = bytes;
}

ClientServer::Connections::iterator ClientServer::end(Connections::iterator at) {
  count_held(*at->second, 0);
  return connections_.erase(at);
}

// One client alone stays within its own limits; many together need not.
void ClientServer::cut_off_heaviest() {
  const auto lighter = [](const auto& a, const auto& b) {
    return a.second->counted_bytes < b.second->counted_bytes;
  };
  end(std::max_element(connections_.begin(), connections_.end(), lighter));
  ++stats_.cut_off;
}

void ClientServer::sweep() {
  const uint64_t now_ms = uv_now(loop_);
  for (auto at = connections_.begin(); at != connections_.end();) {
    const ClientConnection& connection = *at->second;
    const bool over =
        connection.is_draining() && now_ms - connection.draining_since_ms() > limits_.drain_ms_max;
    at = over ? end(at) : std::next(at);
  }
}

ClientStats ClientServer::stats() const {
  ClientStats stats = stats_;
  stats.connected = connections_.size();
  stats.held_bytes = held_bytes_;
  return stats;
}

}  // namespace torc::shell
