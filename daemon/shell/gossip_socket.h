// GossipSocket: the datagram channel between daemons, one UDP socket on the peer port. A datagram
// carries one frame of one message; whatever is wrong with one is counted and forgotten, and so is
// what the kernel does not take. Used only on the loop's thread.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>

#include "daemon/node/frame.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/uv_handle.h"
#include "membership/address.h"

namespace torc::shell {

// Counters since start.
struct GossipStats {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t dropped = 0;  // not sent: too long, or the kernel and the queue were full
  uint64_t errors = 0;   // received and refused
};

class GossipSocket {
 public:
  using Sink = node::FrameReader::Sink;

  GossipSocket(uv_loop_t* loop, ReadBuffer& buffer, Sink sink);

  std::expected<Address, std::string> listen(const Address& address);
  void send(const Address& to, const pb::Envelope& message);
  void set_cluster(uint64_t cluster_id) { cluster_id_ = cluster_id; }
  const GossipStats& stats() const { return stats_; }

 private:
  void on_datagram(std::string_view bytes);

  ReadBuffer& buffer_;
  const node::FrameReader::Sink sink_;
  uint64_t cluster_id_ = 0;
  bool is_v6_ = false;
  std::string frame_;  // of the message being sent
  GossipStats stats_;
  UvHandle<uv_udp_t> socket_;
};

}  // namespace torc::shell
