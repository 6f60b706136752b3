// The simulated network: what it keeps, what it loses, and whom it tells.
#include "tests/sim/network.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/sim/event_queue.h"
#include "tests/sim/random.h"

namespace torc::sim {
namespace {

using node::Channel;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Two endpoints that write down what reaches them.
struct Endpoint : NetworkEndpoint {
  bool on_bytes(Channel, std::string_view bytes) override {
    got.emplace_back(bytes);
    return accepts;
  }
  void on_stream_lost(const Address&) override { ++lost; }

  std::vector<std::string> got;
  int lost = 0;
  bool accepts = true;
};

struct Pair {
  Pair() {
    network.attach(address_a, a);
    network.attach(address_b, b);
    network.set_up(0);
    network.set_up(1);
  }
  void stream(int first, int last) {
    for (int i = first; i <= last; ++i) {
      network.send(0, address_b, Channel::kStream, std::to_string(i));
    }
  }
  void run(Duration time) { queue.run_until(queue.now() + time); }

  Address address_a = *Address::parse("10.0.0.1:1");
  Address address_b = *Address::parse("10.0.0.2:1");
  EventQueue queue;
  Network network{queue, Random(1)};
  Endpoint a;
  Endpoint b;
};

std::vector<std::string> numbers(int first, int last) {
  std::vector<std::string> result;
  for (int i = first; i <= last; ++i) result.push_back(std::to_string(i));
  return result;
}

TEST_CASE("network: a stream keeps order, though each message has a delay of its own") {
  Pair pair;
  pair.stream(1, 200);
  pair.run(seconds(1));
  CHECK(pair.b.got == numbers(1, 200));
  CHECK(pair.a.lost == 0);
}

TEST_CASE("network: a cut stream that is mended soon delivers late, in order") {
  Pair pair;
  pair.network.config().stall_min = seconds(5);
  pair.network.cut(0, 1);
  pair.stream(1, 10);
  pair.run(seconds(1));
  CHECK(pair.b.got.empty());
  pair.network.mend(0, 1);
  pair.stream(11, 20);
  pair.run(seconds(2));
  CHECK(pair.b.got == numbers(1, 20));
  CHECK(pair.a.lost == 0);
}

TEST_CASE(
    "network: a stream that stays cut breaks, loses what was under way and tells its sender") {
  Pair pair;
  pair.network.cut(0, 1);
  pair.stream(1, 10);
  pair.run(seconds(20));
  CHECK(pair.a.lost == 1);
  pair.network.mend(0, 1);
  pair.stream(11, 12);
  pair.run(seconds(2));
  CHECK(pair.b.got == numbers(11, 12));
}

TEST_CASE("network: cuts add up, and each direction is cut by itself") {
  Pair pair;
  pair.network.cut(0, 1);
  pair.network.cut(0, 1);
  pair.network.mend(0, 1);
  pair.network.send(0, pair.address_b, Channel::kDatagram, "to b");
  pair.network.send(1, pair.address_a, Channel::kDatagram, "to a");
  pair.run(seconds(1));
  CHECK(pair.b.got.empty());
  CHECK(pair.a.got == std::vector<std::string>{"to a"});
  pair.network.mend(0, 1);
  pair.network.send(0, pair.address_b, Channel::kDatagram, "again");
  pair.run(seconds(1));
  CHECK(pair.b.got == std::vector<std::string>{"again"});
}

TEST_CASE(
    "network: when a process dies, streams to it break, and its next life gets none of the old "
    "bytes") {
  Pair pair;
  pair.stream(1, 1);
  pair.run(seconds(1));
  pair.stream(2, 5);
  pair.network.set_down(1);
  pair.network.set_up(1);
  pair.run(seconds(1));
  CHECK(pair.b.got == numbers(1, 1));
  CHECK(pair.a.lost == 1);
  pair.stream(6, 6);
  pair.run(seconds(1));
  CHECK(pair.b.got == std::vector<std::string>{"1", "6"});
}

TEST_CASE("network: a stream to nobody, or to a process that is down, is refused") {
  Pair pair;
  pair.network.send(0, *Address::parse("10.9.9.9:9"), Channel::kStream, "hello?");
  pair.run(seconds(1));
  CHECK(pair.a.lost == 1);
  pair.network.set_down(1);
  pair.stream(1, 3);
  pair.run(seconds(1));
  CHECK(pair.a.lost == 2);
  CHECK(pair.b.got.empty());
}

TEST_CASE("network: a receiver that refuses bytes breaks the stream") {
  Pair pair;
  pair.b.accepts = false;
  pair.stream(1, 3);
  pair.run(seconds(1));
  CHECK(pair.b.got == numbers(1, 1));
  CHECK(pair.a.lost == 1);
}

TEST_CASE("network: datagrams are lost, doubled and overtake each other as configured") {
  Pair pair;
  const auto send = [&](int count) {
    pair.b.got.clear();
    for (const std::string& text : numbers(1, count)) {
      pair.network.send(0, pair.address_b, Channel::kDatagram, text);
    }
    pair.run(seconds(5));
    return pair.b.got.size();
  };
  NetworkConfig& config = pair.network.config();
  CHECK(send(100) == 100);
  config.datagram_loss = 500'000;
  const size_t arrived = send(1000);
  CHECK(arrived > 300);
  CHECK(arrived < 700);
  config.datagram_loss = 0;
  config.datagram_duplicate = 1'000'000;
  CHECK(send(100) == 200);
  config.datagram_duplicate = 0;
  config.datagram_reorder = 500'000;
  CHECK(send(100) == 100);
  CHECK(pair.b.got != numbers(1, 100));
}

TEST_CASE("network: stream chaos loses, doubles and reorders what no real stream would") {
  Pair pair;
  pair.network.config().stream_loss = 200'000;
  pair.stream(1, 100);
  pair.run(seconds(10));
  CHECK(pair.b.got.size() < 100);
  pair.b.got.clear();
  pair.network.config().stream_loss = 0;
  pair.network.config().stream_reorder = 200'000;
  pair.stream(1, 100);
  pair.run(seconds(10));
  CHECK(pair.b.got.size() == 100);
  CHECK(pair.b.got != numbers(1, 100));
}

TEST_CASE("network: a clogged link delays everything on it") {
  Pair pair;
  pair.network.clog(0, 1, seconds(3));
  pair.stream(1, 2);
  pair.run(seconds(2));
  CHECK(pair.b.got.empty());
  pair.run(seconds(3));
  CHECK(pair.b.got == numbers(1, 2));
}

}  // namespace
}  // namespace torc::sim
