// Client: one connection of the torc tool to a cluster, over the Redis protocol. It talks to the
// first address that answers and never changes it in mid-command, so that no write is sent twice.
// One thread, one command at a time.
#pragma once

#include <hiredis/hiredis.h>

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace torc::ctl {

struct Endpoint {
  std::string host;
  int port = 0;

  std::string to_string() const;
};

// "HOST:PORT,HOST:PORT,..."; an IPv6 address stands in brackets. The error says which part is
// wrong.
std::expected<std::vector<Endpoint>, std::string> parse_endpoints(std::string_view list);

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

class Client {
 public:
  // Tries the endpoints in turn. A daemon that accepts the connection but does not answer a PING in
  // time (it may be paused) counts as absent. The error names every endpoint and what is wrong with
  // it.
  static std::expected<Client, std::string> connect(const std::vector<Endpoint>& endpoints);

  // Sends one command and waits for its answer. An error answer of the cluster is an error here,
  // word for word.
  std::expected<Reply, std::string> run(const std::vector<std::string_view>& arguments);

 private:
  struct Close {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  using Context = std::unique_ptr<redisContext, Close>;

  Client(Context context, Endpoint endpoint);

  Context context_;
  Endpoint endpoint_;
};

// The bytes of a string or status answer.
std::string_view text_of(const redisReply& reply);

}  // namespace torc::ctl
