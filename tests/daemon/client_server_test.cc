#include "daemon/shell/client_server.h"

#include <doctest/doctest.h>

#include <csignal>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

// Only how long a broken test takes to fail.
constexpr uint64_t kPatienceMs = 20'000;

// A server over a node that knows three things: it stores, it reads, and it answers only when told
// to.
class Daemon : public CommandSink {
 public:
  explicit Daemon(const ClientLimits& limits = {}) {
    std::signal(SIGPIPE, SIG_IGN);  // as the daemon does
    uv_loop_init(&loop_);
    server = std::make_unique<ClientServer>(&loop_, buffer_, limits, "test",
                                            static_cast<CommandSink&>(*this));
    Address any = Address::parse("127.0.0.1:1").value();
    any.port = 0;
    address = server->listen(any).value();
  }
  ~Daemon() override {
    server.reset();
    uv_run(&loop_, UV_RUN_DEFAULT);
    uv_loop_close(&loop_);
  }

  void on_command(node::RequestId id, node::Request request) override {
    if (auto* put = std::get_if<node::PutRequest>(&request)) {
      values_[put->key] = put->value;
      answers_.emplace_back(id, node::PutReply{});
    } else if (const auto* get = std::get_if<node::GetRequest>(&request)) {
      node::GetReply reply;
      const auto at = values_.find(get->key);
      reply.found = at != values_.end();
      if (reply.found) reply.record = at->second;
      answers_.emplace_back(id, std::move(reply));
    } else {
      answers_.emplace_back(id, node::ErrorReply{node::ErrorReply::kError, "not in this test"});
    }
  }

  // Turns the loop until `done`; false when that never happens.
  bool run_until(const std::function<bool()>& done) {
    auto ticks = make_handle(uv_timer_init, &loop_, this);
    uv_timer_start(ticks.get(), [](uv_timer_t*) {}, 1, 1);
    const uint64_t begin = uv_now(&loop_);
    while (!done()) {
      if (answering) {
        for (auto& [id, reply] : std::exchange(answers_, {}))
          server->on_reply(id, std::move(reply));
      }
      server->flush();
      uv_run(&loop_, UV_RUN_ONCE);
      if (uv_now(&loop_) - begin > kPatienceMs) return false;
    }
    return true;
  }
  uv_loop_t* loop() { return &loop_; }
  size_t waiting() const { return answers_.size(); }

  bool answering = true;
  std::unique_ptr<ClientServer> server;
  Address address;

 private:
  uv_loop_t loop_{};
  ReadBuffer buffer_;
  std::map<std::string, std::string> values_;
  std::vector<std::pair<node::RequestId, node::Reply>> answers_;
};

class Client {
 public:
  explicit Client(Daemon& daemon) : socket_(make_handle(uv_tcp_init, daemon.loop(), this)) {
    const sockaddr_storage address = to_sockaddr(daemon.address);
    uv_tcp_connect(&connect_, socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                   [](uv_connect_t* request, int status) {
                     REQUIRE(status == 0);
                     auto* client = static_cast<Client*>(request->handle->data);
                     client->connected_ = true;
                     client->read();
                   });
    REQUIRE(daemon.run_until([this] { return connected_; }));
  }

  void read() {
    uv_read_start(
        as_stream(socket_.get()),
        [](uv_handle_t*, size_t, uv_buf_t* out) {
          static char bytes[65536];
          *out = uv_buf_init(bytes, sizeof bytes);
        },
        [](uv_stream_t* stream, ssize_t bytes, const uv_buf_t* buffer) {
          auto* client = static_cast<Client*>(stream->data);
          if (bytes < 0) {
            client->closed = true;
          } else {
            client->received.append(buffer->base, static_cast<size_t>(bytes));
          }
        });
  }
  void stop_reading() { uv_read_stop(as_stream(socket_.get())); }

  // The client's bytes live as long as it does.
  void write(std::string bytes) {
    auto* write = new Write{{}, std::move(bytes)};
    const uv_buf_t all =
        uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
    write->request.data = write;
    uv_write(&write->request, as_stream(socket_.get()), &all, 1,
             [](uv_write_t* request, int) { delete static_cast<Write*>(request->data); });
  }
  void half_close() {
    uv_shutdown(&shutdown_, as_stream(socket_.get()), [](uv_shutdown_t*, int) {});
  }

  std::string received;
  bool closed = false;

 private:
  struct Write {
    uv_write_t request;
    std::string bytes;
  };

  bool connected_ = false;
  uv_connect_t connect_{};
  uv_shutdown_t shutdown_{};
  UvHandle<uv_tcp_t> socket_;
};

std::string set_command(const std::string& key, const std::string& value) {
  return "*3\r\n$3\r\nSET\r\n$" + std::to_string(key.size()) + "\r\n" + key + "\r\n$" +
         std::to_string(value.size()) + "\r\n" + value + "\r\n";
}
std::string bulk(const std::string& value) {
  return "$" + std::to_string(value.size()) + "\r\n" + value + "\r\n";
}

}  // namespace

TEST_CASE("client server: what was set is got, and each client hears only its own answers") {
  Daemon daemon;
  Client one(daemon), two(daemon);
  one.write(set_command("k", "v1"));
  REQUIRE(daemon.run_until([&] { return one.received == "+OK\r\n"; }));
  two.write("GET k\r\n");
  REQUIRE(daemon.run_until([&] { return two.received == bulk("v1"); }));
  CHECK(one.received == "+OK\r\n");
  CHECK(daemon.server->stats().connected == 2);
}

TEST_CASE("client server: a pipeline far longer than one may run is answered whole and in order") {
  Daemon daemon;
  Client client(daemon);
  std::string commands, answers;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = "key" + std::to_string(i);
    commands += set_command(key, std::to_string(i)) + "GET " + key + "\r\n";
    answers += "+OK\r\n" + bulk(std::to_string(i));
  }
  client.write(commands);
  REQUIRE(daemon.run_until([&] { return client.received.size() >= answers.size(); }));
  CHECK(client.received == answers);
}

TEST_CASE("client server: answers larger than the socket's buffer arrive whole") {
  Daemon daemon;
  Client client(daemon);
  const std::string value(4 * 1024 * 1024, 'v');
  client.write(set_command("big", value));
  REQUIRE(daemon.run_until([&] { return client.received == "+OK\r\n"; }));
  client.received.clear();
  client.stop_reading();
  client.write("GET big\r\nGET big\r\nGET big\r\nPING\r\n");
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().commands >= 2; }));
  client.read();
  const std::string all = bulk(value) + bulk(value) + bulk(value) + "+PONG\r\n";
  REQUIRE(daemon.run_until([&] { return client.received.size() >= all.size(); }));
  CHECK(client.received == all);
}

TEST_CASE(
    "client server: a client that has sent its last byte still gets its answers, then the end") {
  Daemon daemon;
  daemon.answering = false;
  Client client(daemon);
  client.write("GET a\r\nPING\r\n");
  client.half_close();
  REQUIRE(daemon.run_until([&] { return daemon.waiting() == 1; }));
  CHECK_FALSE(client.closed);
  daemon.answering = true;
  REQUIRE(daemon.run_until([&] { return client.closed; }));
  CHECK(client.received == "$-1\r\n+PONG\r\n");
  CHECK(daemon.server->stats().connected == 0);
}

TEST_CASE("client server: QUIT and broken commands are answered before the connection ends") {
  Daemon daemon;
  Client polite(daemon);
  polite.write("GET a\r\nQUIT\r\n");
  REQUIRE(daemon.run_until([&] { return polite.closed; }));
  CHECK(polite.received == "$-1\r\n+OK\r\n");

  Client broken(daemon);
  broken.write("*1\r\n$999999999999\r\n" + std::string(2 * 1024 * 1024, 'z'));
  REQUIRE(daemon.run_until([&] { return broken.closed; }));
  CHECK(broken.received.starts_with("-ERR "));
  CHECK(broken.received.ends_with("\r\n"));
}

TEST_CASE(
    "client server: one client too many is told so, and a place that is given up is free again") {
  ClientLimits limits;
  limits.clients_max = 1;
  Daemon daemon(limits);
  {
    Client first(daemon);
    first.write("PING\r\n");
    REQUIRE(daemon.run_until([&] { return first.received == "+PONG\r\n"; }));
    Client second(daemon);
    REQUIRE(daemon.run_until([&] { return second.closed; }));
    CHECK(second.received == "-ERR max number of clients reached\r\n");
    CHECK(daemon.server->stats().refused == 1);
  }
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().connected == 0; }));
  Client third(daemon);
  third.write("PING\r\n");
  REQUIRE(daemon.run_until([&] { return third.received == "+PONG\r\n"; }));
}

TEST_CASE("client server: a client that leaves with a request running disturbs nobody") {
  Daemon daemon;
  daemon.answering = false;
  {
    Client client(daemon);
    client.write("GET a\r\n");
    REQUIRE(daemon.run_until([&] { return daemon.waiting() == 1; }));
    // A half command and its reset end the connection for good.
    client.write("*1\r\n");
    client.write(std::string(1024 * 1024, 'x'));
    REQUIRE(daemon.run_until([&] { return true; }));
  }
  daemon.answering = true;
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().connected == 0; }));
  Client next(daemon);
  next.write("PING\r\n");
  REQUIRE(daemon.run_until([&] { return next.received == "+PONG\r\n"; }));
}

TEST_CASE("client server: a client that never reads its answers is cut off, its memory freed") {
  Daemon daemon;
  Client client(daemon);
  client.write(set_command("big", std::string(16 * 1024 * 1024, 'v')));
  REQUIRE(daemon.run_until([&] { return client.received == "+OK\r\n"; }));
  client.stop_reading();
  std::string commands;
  for (int i = 0; i < 32; ++i) commands += "GET big\r\n";
  client.write(commands);
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().connected == 0; }));
  Client next(daemon);
  next.write("PING\r\n");
  REQUIRE(daemon.run_until([&] { return next.received == "+PONG\r\n"; }));
}

TEST_CASE("client server: a client that leaves answers unread for long is cut off, however few") {
  ClientLimits limits;
  limits.stalled_ms_max = 100;
  Daemon daemon(limits);
  Client client(daemon);
  client.write(set_command("big", std::string(16 * 1024 * 1024, 'v')));
  REQUIRE(daemon.run_until([&] { return client.received == "+OK\r\n"; }));
  client.stop_reading();
  client.write("GET big\r\n");
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().commands == 2; }));
  CHECK(daemon.run_until([&] { return daemon.server->stats().connected == 0; }));
}

TEST_CASE(
    "client server: when all together hold too much the heaviest is cut off, the light live") {
  ClientLimits limits;
  limits.held_bytes_max = 8 * 1024 * 1024;
  Daemon daemon(limits);
  Client light(daemon);
  light.write("*2\r\n$3\r\nGET\r\n$1\r\n");
  std::vector<std::unique_ptr<Client>> heavy;
  const std::string half = set_command("k", std::string(3 * 1024 * 1024, 'v'));
  for (int i = 0; i < 6; ++i) {
    heavy.push_back(std::make_unique<Client>(daemon));
    heavy.back()->write(half.substr(0, half.size() - 1));
  }
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().cut_off >= 4; }));
  CHECK(daemon.server->stats().held_bytes <= limits.held_bytes_max);
  light.write("k\r\n");
  REQUIRE(daemon.run_until([&] { return light.received == "$-1\r\n"; }));
  heavy.clear();
  REQUIRE(daemon.run_until([&] { return daemon.server->stats().connected == 1; }));
  CHECK(daemon.server->stats().held_bytes < 1024 * 1024);
}

}  // namespace torc::shell
