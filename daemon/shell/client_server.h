// ClientServer: the listener for clients and all their connections. Each request goes to the sink
// under an id whose high half names the connection, and its reply finds the way back by it; a reply
// to a connection that is gone is dropped. Used only on the loop's thread.
#pragma once

#include <uv.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/node/request.h"
#include "daemon/shell/client_connection.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/uv_handle.h"
#include "membership/address.h"

namespace torc::shell {

struct ClientLimits {
  size_t clients_max = 10'000;
  size_t held_bytes_max = size_t{1} << 30;  // of all clients; beyond it the heaviest is cut off
  unsigned stalled_ms_max = 60'000;         // how long a client may leave its answers unread
  uint64_t drain_ms_max = 1000;  // how long a client that was told good-bye may keep its socket
};

// Counters since start.
struct ClientStats {
  uint64_t accepted = 0;
  uint64_t refused = 0;     // over the limit
  uint64_t cut_off = 0;     // because all together held too much memory
  uint64_t commands = 0;    // requests handed to the node
  uint64_t connected = 0;   // now
  uint64_t held_bytes = 0;  // now
};

class CommandSink {
 public:
  virtual ~CommandSink() = default;
  // Answered by ClientServer::on_reply, never before it returns.
  virtual void on_command(node::RequestId id, node::Request request) = 0;
};

class ClientServer : private ClientConnection::Owner {
 public:
  // Requests whose id has this high half are no client's.
  static constexpr uint32_t kNoClient = 0;

  ClientServer(uv_loop_t* loop, ReadBuffer& buffer, const ClientLimits& limits, std::string version,
               CommandSink& sink);
  ~ClientServer() override;

  std::expected<Address, std::string> listen(const Address& address);
  void stop_listening() { listener_.reset(); }

  void on_reply(node::RequestId id, node::Reply reply);
  // Writes what is ready and ends what is over. Once per turn of the loop.
  void flush();

  ClientStats stats() const;

 private:
  void on_client_command(node::RequestId id, node::Request request) override;
  void on_client_dirty(uint32_t id) override { dirty_.push_back(id); }
  using Connections = std::unordered_map<uint32_t, std::unique_ptr<ClientConnection>>;

  void accept();
  void sweep();
  void count_held(ClientConnection& connection, size_t bytes);
  Connections::iterator end(Connections::iterator at);
  void cut_off_heaviest();

  uv_loop_t* loop_;
  ReadBuffer& buffer_;
  const ClientLimits limits_;
  const std::string version_;
  CommandSink& sink_;
  ClientStats stats_;

  Connections connections_;
  size_t held_bytes_ = 0;  // of all connections, as last counted
  uint32_t last_id_ = kNoClient;
  std::vector<uint32_t> dirty_;
  std::vector<uint32_t> flushing_;  // keeps its capacity between turns
  UvHandle<uv_tcp_t> listener_;
  UvHandle<uv_timer_t> sweeper_;
};

}  // namespace torc::shell
