// PeerTransport: the stream channel between daemons. It keeps one outgoing connection per
// destination and reads any number of incoming ones; messages of one connection arrive whole and in
// order, or the connection ends. Never calls back from within send(). Used only on the loop's
// thread.
#pragma once

#include <uv.h>

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/node/frame.h"
#include "daemon/shell/incoming_link.h"
#include "daemon/shell/outgoing_link.h"
#include "daemon/shell/read_buffer.h"
#include "daemon/shell/uv_handle.h"
#include "membership/address.h"

namespace torc::shell {

struct PeerLimits {
  OutgoingLimits outgoing;
  size_t links_out_max = 4096;
  size_t links_in_max = 4096;
  uint64_t idle_ms_max = 5 * 60 * 1000;       // then an outgoing connection is closed
  uint64_t first_message_ms_max = 10 * 1000;  // that an incoming one may stay silent
};

constexpr size_t kFrameErrors = static_cast<size_t>(node::FrameError::kMalformed) + 1;

// Counters since start.
struct PeerStats {
  uint64_t messages_sent = 0;
  uint64_t messages_received = 0;
  uint64_t messages_dropped = 0;  // a queue was full
  uint64_t links_lost = 0;        // outgoing connections that broke or could not be made
  uint64_t links_refused = 0;     // incoming ones over the limit, or silent for too long
  std::array<uint64_t, kFrameErrors> frame_errors{};  // incoming ones closed, by node::FrameError
  uint64_t links_out = 0;                             // now
  uint64_t links_in = 0;                              // now
  uint64_t queued_bytes = 0;                          // now
};

class PeerEvents {
 public:
  virtual ~PeerEvents() = default;
  // May move the contents out of `message`.
  virtual void on_message(pb::Envelope& message) = 0;
  // Whatever was sent to this address and not yet answered may be lost.
  virtual void on_lost(const Address& peer) = 0;
};

class PeerTransport : private OutgoingLink::Owner, private IncomingLink::Owner {
 public:
  PeerTransport(uv_loop_t* loop, ReadBuffer& buffer, const PeerLimits& limits, PeerEvents& events);
  ~PeerTransport() override;

  // The address it listens on, the port filled in when 0 was asked for; an error in words.
  std::expected<Address, std::string> listen(const Address& address);
  void stop_listening() { listener_.reset(); }

  void send(const Address& to, const pb::Envelope& message);
  // From now on frames carry this id, and frames of another cluster are refused.
  void set_cluster(uint64_t cluster_id);
  // Hands everything that was sent to the kernel, as far as it takes it. Once per turn of the loop.
  void flush();
  // Nothing waits on a live connection.
  bool is_drained() const;

  PeerStats stats() const;

 private:
  void on_link_dirty(OutgoingLink& link) override { dirty_.push_back(&link); }
  void on_link_lost(OutgoingLink& link, const char* reason) override;

  uint64_t cluster_id() const override { return cluster_id_; }
  const node::FrameReader::Sink& message_sink() const override { return sink_; }
  uint64_t messages_received() const override { return stats_.messages_received; }
  void on_link_end(uint64_t id, node::FrameError error) override;

  bool drop_idlest_link();
  void accept();
  void sweep();

  uv_loop_t* loop_;
  ReadBuffer& buffer_;
  const PeerLimits limits_;
  PeerEvents& events_;
  const node::FrameReader::Sink sink_;
  uint64_t cluster_id_ = 0;
  PeerStats stats_;

  std::unordered_map<Address, std::unique_ptr<OutgoingLink>> outgoing_;
  std::vector<OutgoingLink*> dirty_;
  std::vector<OutgoingLink*> flushing_;  // keeps its capacity between turns
  std::unordered_map<uint64_t, std::unique_ptr<IncomingLink>> incoming_;
  uint64_t next_incoming_ = 1;
  uint64_t warned_at_ms_ = 0;
  UvHandle<uv_tcp_t> listener_;
  UvHandle<uv_timer_t> sweeper_;
};

}  // namespace torc::shell
