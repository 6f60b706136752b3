#include "daemon/shell/peer_transport.h"

#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daemon/shell/gossip_socket.h"
#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

constexpr uint64_t kCluster = 42;
constexpr size_t kValueBytes = 16 * 1024 * 1024;  // the largest a record may hold
// Only how long a broken test takes to fail.
constexpr uint64_t kPatienceMs = 20'000;

pb::Envelope message(uint64_t number, size_t bytes = 0) {
  pb::Envelope envelope;
  envelope.set_from(number);
  envelope.mutable_merge()->set_key(std::string(bytes, 'x'));
  return envelope;
}

class Loop {
 public:
  Loop() {
    std::signal(SIGPIPE, SIG_IGN);  // as the daemon does
    uv_loop_init(&loop_);
  }
  ~Loop() {
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }
  uv_loop_t* get() { return &loop_; }

  // Turns until `done`; false when that never happens. `turn` runs before each sleep.
  bool run_until(const std::function<void()>& turn, const std::function<bool()>& done) {
    auto ticks = make_handle(uv_timer_init, &loop_, this);
    uv_timer_start(ticks.get(), [](uv_timer_t*) {}, 1, 1);
    const uint64_t begin = uv_now(&loop_);
    while (!done()) {
      turn();
      uv_run(&loop_, UV_RUN_ONCE);
      if (uv_now(&loop_) - begin > kPatienceMs) return false;
    }
    return true;
  }

 private:
  uv_loop_t loop_{};
};

PeerLimits quick_limits() {
  PeerLimits limits;
  limits.outgoing.backoff_ms_min = 1;
  limits.outgoing.backoff_ms_max = 5;
  return limits;
}

// A daemon as its peers see it: a transport that keeps what it hears.
class Peer : public PeerEvents {
 public:
  explicit Peer(Loop& loop, const PeerLimits& limits = quick_limits(), uint64_t cluster = kCluster)
      : loop_(loop), transport(loop.get(), buffer_, limits, *this) {
    transport.set_cluster(cluster);
  }

  Address listen(const Address& address = Address::parse("127.0.0.1:1").value(),
                 uint16_t port = 0) {
    Address at = address;
    at.port = port;
    return transport.listen(at).value();
  }
  bool run_until(const std::function<bool()>& done) {
    return loop_.run_until([this] { transport.flush(); }, done);
  }

  void on_message(pb::Envelope& heard) override {
    numbers.push_back(heard.from());
    key_bytes.push_back(heard.merge().key().size());
  }
  void on_lost(const Address& peer) override { lost.push_back(peer); }

 private:
  Loop& loop_;
  ReadBuffer buffer_;

 public:
  std::vector<uint64_t> numbers;
  std::vector<size_t> key_bytes;
  std::vector<Address> lost;
  PeerTransport transport;
};

// A stranger with a plain socket.
class Stranger {
 public:
  Stranger(Loop& loop, const Address& to, std::string bytes)
      : bytes_(std::move(bytes)), socket_(make_handle(uv_tcp_init, loop.get(), this)) {
    const sockaddr_storage address = to_sockaddr(to);
    uv_tcp_connect(&connect_, socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                   [](uv_connect_t* request, int status) {
                     REQUIRE(status == 0);
                     static_cast<Stranger*>(request->handle->data)->speak();
                   });
  }
  bool is_closed() const { return closed_; }

 private:
  void speak() {
    const uv_buf_t all = uv_buf_init(bytes_.data(), static_cast<unsigned>(bytes_.size()));
    if (!bytes_.empty()) REQUIRE(uv_try_write(as_stream(socket_.get()), &all, 1) > 0);
    uv_read_start(
        as_stream(socket_.get()),
        [](uv_handle_t*, size_t, uv_buf_t* out) {
          static char bytes[16];
          *out = uv_buf_init(bytes, sizeof bytes);
        },
        [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t*) {
          if (bytes < 0) static_cast<Stranger*>(stream->data)->closed_ = true;
        });
  }

  std::string bytes_;
  uv_connect_t connect_{};
  UvHandle<uv_tcp_t> socket_;
  bool closed_ = false;
};

std::string frame_of(const pb::Envelope& envelope, uint64_t cluster) {
  std::string bytes;
  node::FrameWriter writer(bytes);
  writer.append(envelope, cluster);
  writer.finish();
  return bytes;
}

}  // namespace

TEST_CASE("peer transport: messages arrive once and in the order they were sent") {
  Loop loop;
  Peer receiver(loop), sender(loop);
  const Address to = receiver.listen();
  constexpr uint64_t kMessages = 5000;
  for (uint64_t i = 0; i < kMessages; ++i) {
    sender.transport.send(to, message(i, i % 300));
    if (i % 700 == 0) sender.transport.flush();
  }
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() >= kMessages; }));
  for (uint64_t i = 0; i < kMessages; ++i) REQUIRE(receiver.numbers[i] == i);
  CHECK(sender.transport.stats().messages_sent == kMessages);
  CHECK(receiver.transport.stats().messages_received == kMessages);
  CHECK(receiver.transport.stats().links_in == 1);
  CHECK(sender.transport.is_drained());
  CHECK(sender.lost.empty());
}

TEST_CASE(
    "peer transport: the largest value crosses whole, and small messages behind it keep order") {
  Loop loop;
  Peer receiver(loop), sender(loop);
  const Address to = receiver.listen();
  sender.transport.send(to, message(1, kValueBytes));
  sender.transport.send(to, message(2, 7));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 2; }));
  CHECK(receiver.numbers == std::vector<uint64_t>{1, 2});
  CHECK(receiver.key_bytes == std::vector<size_t>{kValueBytes, 7});
}

TEST_CASE("peer transport: nobody there means lost, and the next try succeeds when somebody is") {
  Loop loop;
  Peer sender(loop);
  Address to;
  {
    Peer gone(loop);
    to = gone.listen();
  }
  sender.transport.send(to, message(1));
  CHECK(sender.lost.empty());  // never from within send()
  REQUIRE(sender.run_until([&] { return !sender.lost.empty(); }));
  CHECK(sender.lost.front() == to);
  CHECK(sender.transport.stats().queued_bytes == 0);

  Peer receiver(loop);
  receiver.listen(to, to.port);
  sender.transport.send(to, message(2));
  REQUIRE(sender.run_until([&] { return !receiver.numbers.empty(); }));
  CHECK(receiver.numbers == std::vector<uint64_t>{2});
}

TEST_CASE("peer transport: a peer that dies is lost at once, and a restarted one is found again") {
  Loop loop;
  Peer sender(loop);
  auto receiver = std::make_unique<Peer>(loop);
  const Address to = receiver->listen();
  sender.transport.send(to, message(1));
  REQUIRE(sender.run_until([&] { return receiver->numbers.size() == 1; }));
  receiver.reset();
  REQUIRE(sender.run_until([&] { return sender.lost.size() == 1; }));

  receiver = std::make_unique<Peer>(loop);
  receiver->listen(to, to.port);
  sender.transport.send(to, message(2));
  REQUIRE(sender.run_until([&] { return receiver->numbers.size() == 1; }));
  CHECK(receiver->numbers.front() == 2);
}

TEST_CASE("peer transport: a full queue drops messages, counts them, and goes on") {
  Loop loop;
  PeerLimits limits = quick_limits();
  limits.outgoing.queue_bytes_max = 1000;
  Peer receiver(loop), sender(loop, limits);
  const Address to = receiver.listen();
  for (uint64_t i = 0; i < 10; ++i) sender.transport.send(to, message(i, 400));
  CHECK(sender.transport.stats().messages_sent == 3);
  CHECK(sender.transport.stats().messages_dropped == 7);
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 3; }));
  sender.transport.send(to, message(99));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 4; }));
  CHECK(receiver.numbers == std::vector<uint64_t>{0, 1, 2, 99});
}

TEST_CASE("peer transport: whoever does not speak the protocol is closed and counted") {
  Loop loop;
  Peer receiver(loop);
  const Address to = receiver.listen();
  std::string lies = frame_of(message(1), kCluster);
  lies[11] = 0x7f;  // the length's highest byte
  std::string damaged = frame_of(message(1, 100), kCluster);
  damaged.back() = static_cast<char>(damaged.back() ^ 1);

  struct Row {
    std::string bytes;
    node::FrameError error;
  };
  for (const Row& row : {Row{"GET / HTTP/1.1\r\nHost: here\r\n\r\n", node::FrameError::kNotTorc},
                         Row{std::move(lies), node::FrameError::kTooLong},
                         Row{std::move(damaged), node::FrameError::kChecksum},
                         Row{frame_of(message(1), kCluster + 1), node::FrameError::kCluster}}) {
    CAPTURE(node::to_string(row.error));
    Stranger stranger(loop, to, row.bytes);
    REQUIRE(receiver.run_until([&] { return stranger.is_closed(); }));
    const PeerStats stats = receiver.transport.stats();
    CHECK(stats.frame_errors[static_cast<size_t>(row.error)] == 1);
    CHECK(stats.links_in == 0);
  }
  CHECK(receiver.numbers.empty());

  Peer sender(loop);
  sender.transport.send(to, message(5));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 1; }));
}

TEST_CASE("peer transport: a silent connection is closed after a while, a half-sent message too") {
  Loop loop;
  PeerLimits limits = quick_limits();
  limits.first_message_ms_max = 0;
  Peer receiver(loop, limits);
  const Address to = receiver.listen();
  Stranger silent(loop, to, "");
  Stranger slow(loop, to, frame_of(message(1), kCluster).substr(0, 20));
  REQUIRE(receiver.run_until([&] { return silent.is_closed() && slow.is_closed(); }));
  CHECK(receiver.transport.stats().links_refused == 2);
}

TEST_CASE("peer transport: connections over the limit are closed, those within it live") {
  Loop loop;
  PeerLimits limits = quick_limits();
  limits.links_in_max = 1;
  Peer receiver(loop, limits), sender(loop);
  const Address to = receiver.listen();
  sender.transport.send(to, message(1));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 1; }));
  Stranger second(loop, to, "");
  REQUIRE(receiver.run_until([&] { return second.is_closed(); }));
  CHECK(receiver.transport.stats().links_refused == 1);
  sender.transport.send(to, message(2));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 2; }));
}

TEST_CASE("peer transport: with all outgoing links taken those that lead nowhere make room") {
  Loop loop;
  PeerLimits limits = quick_limits();
  limits.links_out_max = 3;
  Peer sender(loop, limits);
  Peer friendly(loop);
  const Address to = friendly.listen();
  sender.transport.send(to, message(6));
  REQUIRE(sender.run_until([&] { return friendly.numbers.size() == 1; }));
  // Nobody answers at any of these addresses.
  Address nobody = to;
  nobody.ip[13] = 9;
  for (uint16_t port = 1; port <= 50; ++port) {
    nobody.port = port;
    sender.transport.send(nobody, message(1));
    sender.transport.flush();
  }
  Peer late(loop);
  sender.transport.send(late.listen(), message(7));
  sender.transport.send(to, message(8));
  REQUIRE(sender.run_until([&] { return !late.numbers.empty() && friendly.numbers.size() == 2; }));
  CHECK(late.numbers == std::vector<uint64_t>{7});
  CHECK(friendly.transport.stats().links_in == 1);
  CHECK(sender.transport.stats().links_out == 3);
  CHECK(sender.transport.stats().messages_dropped == 0);
}

TEST_CASE("peer transport: an outgoing connection that nobody uses is closed without a word") {
  Loop loop;
  PeerLimits limits = quick_limits();
  limits.idle_ms_max = 0;
  Peer receiver(loop), sender(loop, limits);
  const Address to = receiver.listen();
  sender.transport.send(to, message(1));
  REQUIRE(sender.run_until([&] { return receiver.numbers.size() == 1; }));
  REQUIRE(sender.run_until([&] { return receiver.transport.stats().links_in == 0; }));
  CHECK(sender.transport.stats().links_out == 0);
  CHECK(sender.lost.empty());
}

TEST_CASE("peer transport: an address that is taken is an error that names it") {
  Loop loop;
  Peer first(loop), second(loop);
  const Address taken = first.listen();
  const auto refused = second.transport.listen(taken);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().find(taken.to_string()) != std::string::npos);
}

TEST_CASE(
    "gossip socket: datagrams of the cluster arrive, everything else is counted and forgotten") {
  Loop loop;
  ReadBuffer buffer;
  std::vector<uint64_t> heard;
  GossipSocket receiver(loop.get(), buffer, [&](pb::Envelope& m) { heard.push_back(m.from()); });
  GossipSocket sender(loop.get(), buffer, [](pb::Envelope&) {});
  GossipSocket stranger(loop.get(), buffer, [](pb::Envelope&) {});
  Address any = Address::parse("127.0.0.1:1").value();
  any.port = 0;
  const Address to = receiver.listen(any).value();
  REQUIRE(sender.listen(any));
  REQUIRE(stranger.listen(any));
  receiver.set_cluster(kCluster);
  sender.set_cluster(kCluster);
  stranger.set_cluster(kCluster + 1);

  stranger.send(to, message(1));
  sender.send(to, message(2, 2 * node::kDatagramBytesMax));
  sender.send(to, message(3));
  REQUIRE(loop.run_until([] {}, [&] { return !heard.empty(); }));
  CHECK(heard == std::vector<uint64_t>{3});
  CHECK(receiver.stats().errors == 1);
  CHECK(sender.stats().dropped == 1);
  CHECK(sender.stats().sent == 1);
}

}  // namespace torc::shell
