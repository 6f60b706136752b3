// HttpStatus: the HTTP listener for monitoring: /healthz, /readyz, /status and /metrics, GET only.
// It runs on a few threads of its own and knows the daemon only through the StatusBoard. Made and
// destroyed by the loop's thread.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "daemon/shell/status_board.h"
#include "membership/address.h"

struct mg_context;

namespace torc::shell {

class HttpStatus {
 public:
  // `board` must outlive it. An error in words when it cannot listen.
  static std::expected<std::unique_ptr<HttpStatus>, std::string> open(const Address& address,
                                                                      StatusBoard& board);
  // Waits for requests that are being answered.
  ~HttpStatus();

 private:
  explicit HttpStatus(const Address& address) : address_(address) {}

  Address address_;
  mg_context* server_ = nullptr;
};

}  // namespace torc::shell
