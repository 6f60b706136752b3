// Network: carries byte strings between endpoints with latency, loss, duplication, reordering,
// clogged and cut links. A datagram fares alone; messages of one stream arrive in order until the
// stream breaks, and then everything under way on it is lost and its sender is told. Knows nothing
// of what the bytes mean.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/node/env.h"
#include "membership/address.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/random.h"

namespace torc::sim {

// Chances are per million messages.
struct NetworkConfig {
  Duration latency_min = std::chrono::microseconds(80);
  Duration latency_max = std::chrono::microseconds(900);
  // A cut stream breaks after this long; healed before, it delivers late what it held.
  Duration stall_min = std::chrono::milliseconds(300);
  Duration stall_max = std::chrono::seconds(8);
  uint32_t datagram_loss = 0;
  uint32_t datagram_duplicate = 0;
  uint32_t datagram_reorder = 0;
  // A stream breaks by itself before a message.
  uint32_t stream_break = 0;
  // What no stream does, but the protocol must survive.
  uint32_t stream_loss = 0;
  uint32_t stream_duplicate = 0;
  uint32_t stream_reorder = 0;
};

struct NetworkFigures {
  uint64_t sent = 0;
  uint64_t delivered = 0;
  uint64_t lost = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t streams_broken = 0;
};

class NetworkEndpoint {
 public:
  virtual ~NetworkEndpoint() = default;
  // False when the bytes are refused, which breaks a stream.
  virtual bool on_bytes(node::Channel channel, std::string_view bytes) = 0;
  virtual void on_stream_lost(const Address& peer) = 0;
};

class Network {
 public:
  Network(EventQueue& queue, Random random) : queue_(queue), random_(random) {}

  // Endpoints are numbered in the order they are attached, and are down at first.
  size_t attach(const Address& address, NetworkEndpoint& endpoint);
  void set_up(size_t endpoint);
  // Its process died: streams to it break, what is under way to it is lost.
  void set_down(size_t endpoint);

  void send(size_t from, const Address& to, node::Channel channel, std::string bytes);

  // Cuts one direction; cuts of several faults add up.
  void cut(size_t from, size_t to);
  void mend(size_t from, size_t to);
  // Adds to every delay of one direction; zero unclogs.
  void clog(size_t from, size_t to, Duration delay);
  void mend_all();

  NetworkConfig& config() { return config_; }
  const NetworkFigures& figures() const { return figures_; }

 private:
  struct Stream {
    uint64_t receiver_life = 0;  // of the process it was made to
    bool broken = false;         // what still arrives on it is lost
    Instant last_arrival{};
    std::deque<std::string> held;  // stands before a cut, in order
  };
  using StreamPtr = std::shared_ptr<Stream>;

  struct Link {
    uint32_t cuts = 0;
    Duration clog{0};
    StreamPtr stream;  // the sender's present one; null when it has none
  };

  Link& link(size_t from, size_t to) { return links_[from * endpoints_.size() + to]; }
  Duration latency(const Link& link);
  void send_datagram(size_t from, size_t to, std::string bytes);
  void send_stream(size_t from, size_t to, std::string bytes);
  void arrive_datagram(size_t from, size_t to, std::string_view bytes);
  void schedule_stream(size_t from, size_t to, StreamPtr stream, Instant at, std::string bytes);
  void arrive_stream(size_t from, size_t to, const StreamPtr& stream, std::string bytes);
  void deliver_stream(size_t from, size_t to, const StreamPtr& stream, std::string_view bytes);
  void release_held(size_t from, size_t to, const StreamPtr& stream);
  void break_stream(size_t from, size_t to, const StreamPtr& stream, Duration until_noticed);
  void drop(Stream& stream);
  void refuse_stream(size_t from, const Address& to);

  struct Endpoint {
    Address address;
    NetworkEndpoint* sink;
    bool up = false;
    uint64_t life = 0;
  };

  EventQueue& queue_;
  Random random_;
  NetworkConfig config_;
  NetworkFigures figures_;
  std::vector<Endpoint> endpoints_;
  std::map<Address, size_t> by_address_;
  std::vector<Link> links_;  // endpoints x endpoints
};

}  // namespace torc::sim
