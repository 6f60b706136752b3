#include "daemon/shell/http_status.h"

#include <civetweb.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <thread>

#include "daemon/shell/metrics_text.h"
#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

using namespace std::chrono_literals;

// A loop that has not come round for this long is stuck.
constexpr auto kAliveWithin = 5s;
constexpr auto kStatusWait = 2000ms;
constexpr auto kStopKnockEvery = 5ms;
// One connection keeps one thread. Whoever sends half a request and stays silent must not keep them
// all from those who ask for health.
constexpr const char* kThreads = "32";
constexpr const char* kRequestTimeoutMs = "2000";
constexpr const char* kPlain = "text/plain; charset=utf-8";

// The library's first complaint on this thread: it opens its listener on the caller's.
thread_local std::string first_message;

struct Page {
  int code = 200;
  const char* type = kPlain;
  std::string body;
};

Page page_of(StatusBoard& board, std::string_view method, std::string_view path) {
  if (method != "GET") return {405, kPlain, "only GET is answered here\n"};
  if (path == "/healthz") {
    if (board.is_alive(kAliveWithin)) return {200, kPlain, "ok\n"};
    return {503, kPlain, "the daemon's loop does not come round\n"};
  }
  if (path == "/readyz") {
    const auto snapshot = board.snapshot();
    if (!board.is_alive(kAliveWithin)) {
      return {503, kPlain, "the daemon's loop does not come round\n"};
    }
    if (!snapshot->node.ready) return {503, kPlain, "not a member of a cluster yet\n"};
    return {200, kPlain, "ready\n"};
  }
  if (path == "/status") {
    auto status = board.ask_status(kStatusWait);
    if (!status) return {503, kPlain, status.error() + "\n"};
    return {200, "application/json", *std::move(status) + "\n"};
  }
  if (path == "/metrics") {
    const auto snapshot = board.snapshot();
    if (snapshot == nullptr) return {503, kPlain, "nothing was counted yet\n"};
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics_text(*snapshot)};
  }
  return {404, kPlain, "here are /healthz /readyz /status /metrics\n"};
}

int answer(mg_connection* connection, void* data) {
  const mg_request_info* request = mg_get_request_info(connection);
  const std::string_view path = request->local_uri == nullptr ? "" : request->local_uri;
  const Page page = page_of(*static_cast<StatusBoard*>(data), request->request_method, path);
  mg_printf(connection,
            "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
            page.code, mg_get_response_code_text(connection, page.code), page.type,
            page.body.size());
  mg_write(connection, page.body.data(), page.body.size());
  return page.code;
}

}  // namespace

std::expected<std::unique_ptr<HttpStatus>, std::string> HttpStatus::open(const Address& address,
                                                                         StatusBoard& board) {
  std::unique_ptr<HttpStatus> http(new HttpStatus(address));
  const std::string listen = address.to_string();
  const char* options[] = {"listening_ports",    listen.c_str(),    "num_threads", kThreads,
                           "request_timeout_ms", kRequestTimeoutMs, nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char* message) {
    spdlog::debug("http: {}", message);
    if (first_message.empty()) first_message = message;
    return 1;
  };
  first_message.clear();
  http->server_ = mg_start(&callbacks, nullptr, options);
  if (http->server_ == nullptr) {
    return std::unexpected("cannot listen for HTTP on " + listen + ": " + first_message);
  }
  mg_set_request_handler(http->server_, "/", answer, &board);
  return http;
}

// The library looks at its stop flag when a connection arrives, else only every two seconds; so one
// arrives.
HttpStatus::~HttpStatus() {
  if (server_ == nullptr) return;
  std::atomic<bool> stopped = false;
  std::thread stopper([&] {
    mg_stop(server_);
    stopped = true;
  });
  const sockaddr_storage address = to_sockaddr(address_);
  while (!stopped) {
    const int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
      // Whether it is accepted does not matter.
      static_cast<void>(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
      close(fd);
    }
    std::this_thread::sleep_for(kStopKnockEvery);
  }
  stopper.join();
}

}  // namespace torc::shell
