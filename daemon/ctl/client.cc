#include "daemon/ctl/client.h"

#include <cassert>
#include <charconv>
#include <utility>

namespace torc::ctl {
namespace {

constexpr int kConnectTimeoutS = 1;
// Longer than any request may run in the cluster, so that its own answer comes first.
constexpr int kAnswerTimeoutS = 15;

std::expected<Endpoint, std::string> parse_endpoint(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return std::unexpected("bad address '" + std::string(text) + "': " + std::string(why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("HOST:PORT is expected");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong("an IPv6 address stands in brackets");
  }
  if (host.empty()) return wrong("the host is missing");
  int port = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), port);
  if (error != std::errc() || end != digits.end() || port < 1 || port > 65535) {
    return wrong("the port must be 1..65535");
  }
  return Endpoint{std::string(host), port};
}

std::string failure_of(const redisContext& context) {
  // hiredis reports an answer that does not come in time as EAGAIN.
  if (context.err == REDIS_ERR_IO && errno == EAGAIN) return "no answer in time";
  return context.errstr;
}

}  // namespace

std::string Endpoint::to_string() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::expected<std::vector<Endpoint>, std::string> parse_endpoints(std::string_view list) {
  std::vector<Endpoint> endpoints;
  while (true) {
    const size_t comma = list.find(',');
    auto endpoint = parse_endpoint(list.substr(0, comma));
    if (!endpoint) return std::unexpected(endpoint.error());
    endpoints.push_back(std::move(*endpoint));
    if (comma == std::string_view::npos) return endpoints;
    list.remove_prefix(comma + 1);
  }
}

Client::Client(Context context, Endpoint endpoint)
    : context_(std::move(context)), endpoint_(std::move(endpoint)) {}

std::expected<Client, std::string> Client::connect(const std::vector<Endpoint>& endpoints) {
  std::string failures;
  for (const Endpoint& endpoint : endpoints) {
    const auto failed = [&](const std::string& why) {
      failures += (failures.empty() ? "" : "; ") + endpoint.to_string() + ": " + why;
    };
    Context context(
        redisConnectWithTimeout(endpoint.host.c_str(), endpoint.port, {kConnectTimeoutS, 0}));
    if (!context || context->err) {
      failed(context ? context->errstr : "out of memory");
      continue;
    }
    redisSetTimeout(context.get(), {kConnectTimeoutS, 0});
    Client client(std::move(context), endpoint);
    if (auto pong = client.run({"PING"}); !pong) {
      failed(pong.error());
      continue;
    }
    redisSetTimeout(client.context_.get(), {kAnswerTimeoutS, 0});
    return client;
  }
  return std::unexpected("no daemon answers: " + failures);
}

std::expected<Reply, std::string> Client::run(const std::vector<std::string_view>& arguments) {
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string_view argument : arguments) {
    data.push_back(argument.data());
    sizes.push_back(argument.size());
  }
  errno = 0;
  Reply reply(static_cast<redisReply*>(
      redisCommandArgv(context_.get(), static_cast<int>(data.size()), data.data(), sizes.data())));
  if (!reply) return std::unexpected(endpoint_.to_string() + ": " + failure_of(*context_));
  if (reply->type == REDIS_REPLY_ERROR) return std::unexpected(std::string(text_of(*reply)));
  return reply;
}

std::string_view text_of(const redisReply& reply) {
  assert(reply.str != nullptr);
  return {reply.str, reply.len};
}

}  // namespace torc::ctl
