// FakeNode and Talk: a Session with a Node made of a map behind it, for tests that read like a
// conversation. The fake answers nothing by itself: a test says which request is answered when.
// Used by the resp tests.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/resp/session.h"

namespace torc::resp {

struct FakeNode : SessionEnv {
  struct Running {
    node::RequestId id;
    node::Request request;
  };
  struct Stored {
    std::string value;
    int64_t expires_at_ms = 0;
  };

  void submit(node::RequestId id, node::Request request) override {
    running.push_back({id, std::move(request)});
    submitted_max = std::max(submitted_max, running.size());
  }

  node::Reply execute(const node::Request& request) {
    if (const auto* get = std::get_if<node::GetRequest>(&request)) {
      if (broken.contains(get->key)) return broken[get->key];
      const auto found = store.find(get->key);
      if (found == store.end()) return node::GetReply{};
      return node::GetReply{true, "head" + found->second.value, 4, found->second.expires_at_ms};
    }
    if (const auto* put = std::get_if<node::PutRequest>(&request)) {
      if (broken.contains(put->key)) return broken[put->key];
      const bool existed = store.contains(put->key);
      if (put->tombstone) {
        store.erase(put->key);
      } else {
        store[put->key] = {put->value, put->expires_at_ms.value_or(0)};
      }
      return node::PutReply{existed};
    }
    if (std::holds_alternative<node::OwnersRequest>(request)) {
      return node::OwnersReply{7, {{"n1", "a1", "127.0.0.1:7001", "alive"}}};
    }
    // An estimate: it does not wait for the writes before it.
    if (std::holds_alternative<node::SizeRequest>(request)) return node::IntegerReply{42};
    if (std::holds_alternative<node::StatusRequest>(request)) return node::TextReply{"{}"};
    return node::TextReply{"# Server\r\ntorc_version:1\r\n"};
  }

  std::vector<Running> running;
  std::map<std::string, Stored> store;
  std::map<std::string, node::ErrorReply> broken;  // keys whose requests fail
  size_t submitted_max = 0;
};

// A command as clients send it.
inline std::string command(std::initializer_list<std::string_view> arguments) {
  std::string out = "*" + std::to_string(arguments.size()) + "\r\n";
  for (const std::string_view argument : arguments) {
    out += "$" + std::to_string(argument.size()) + "\r\n" + std::string(argument) + "\r\n";
  }
  return out;
}

struct Talk {
  explicit Talk(SessionLimits limits = {})
      : session({.id = 5, .remote = "127.0.0.1:9", .local = "127.0.0.1:7001", .version = "0.1.0"},
                limits, node) {}

  // Answers the running request number `index`.
  void answer(size_t index) {
    FakeNode::Running running = std::move(node.running.at(index));
    node.running.erase(node.running.begin() + static_cast<std::ptrdiff_t>(index));
    session.on_reply(running.id, node.execute(running.request));
  }
  // Answers all, the newest first, until nothing runs and nothing more is read.
  void answer_all() {
    while (!node.running.empty()) {
      answer(node.running.size() - 1);
      if (session.wants_bytes()) session.resume();
    }
  }
  std::string take() { return std::exchange(session.output(), {}); }

  // Sends, lets everything run, and returns what comes back.
  std::string say(std::string_view bytes) {
    session.on_bytes(bytes);
    answer_all();
    return take();
  }
  std::string say(std::initializer_list<std::string_view> arguments) {
    return say(std::string_view(command(arguments)));
  }

  FakeNode node;
  Session session;
};

}  // namespace torc::resp
