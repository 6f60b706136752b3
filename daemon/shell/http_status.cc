#include "daemon/shell/http_status.h"

#include <civetweb.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "daemon/shell/metrics_text.h"

namespace torc::shell {
namespace {

using namespace std::chrono_literals;

// A loop that has not come round for this long is stuck.
constexpr auto kAliveWithin = 5s;
constexpr auto kStatusWait = 2000ms;
constexpr const char* kThreads = "4";
constexpr const char* kRequestTimeoutMs = "5000";
constexpr const char* kPlain = "text/plain; charset=utf-8";

// What the library last had to say on this thread: it opens its listener on the caller's.
thread_local std::string last_message;

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
  std::unique_ptr<HttpStatus> http(new HttpStatus);
  const std::string listen = address.to_string();
  const char* options[] = {"listening_ports",    listen.c_str(),    "num_threads", kThreads,
                           "request_timeout_ms", kRequestTimeoutMs, nullptr};
  mg_callbacks callbacks{};
  callbacks.log_message = [](const mg_connection*, const char* message) {
    spdlog::debug("http: {}", message);
    last_message = message;
    return 1;
  };
  last_message = "refused";
  http->server_ = mg_start(&callbacks, nullptr, options);
  if (http->server_ == nullptr) {
    return std::unexpected("cannot listen for HTTP on " + listen + ": " + last_message);
  }
  mg_set_request_handler(http->server_, "/", answer, &board);
  return http;
}

HttpStatus::~HttpStatus() {
  if (server_ != nullptr) mg_stop(server_);
}

}  // namespace torc::shell
