// Session: one client connection without its socket. Bytes go in, typed requests go out to the
// Node, replies come back in any order and leave as bytes in the order of the commands. Commands
// that touch one key run in order; others run concurrently. Used from the loop's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/node/request.h"

namespace torc::resp {

// Limits of one connection.
struct SessionLimits {
  size_t inline_bytes_max = 64 * 1024;
  size_t arguments_max = 1024 * 1024;
  size_t command_bytes_max = 64 * 1024 * 1024;    // all arguments of one command
  size_t pipeline_max = 1024;                     // commands running; reading pauses at this many
  size_t running_bytes_pause = 64 * 1024 * 1024;  // or when their keys and values measure this much
  size_t output_bytes_pause = 1024 * 1024;        // reading pauses while this much is unsent
  size_t output_bytes_max = 64 * 1024 * 1024;     // the connection is closed beyond this
};

class SessionEnv {
 public:
  virtual ~SessionEnv() = default;
  // Answered by Session::on_reply with the same id, never before submit() returns.
  virtual void submit(node::RequestId id, node::Request request) = 0;
};

// What CLIENT LIST and HELLO tell of this connection and daemon.
struct SessionInfo {
  uint32_t id = 0;     // unique in the daemon's life; the high half of its request ids
  std::string remote;  // HOST:PORT
  std::string local;
  std::string version;  // of torc
};

class Session {
 public:
  Session(SessionInfo info, SessionLimits limits, SessionEnv& env);
  ~Session();

  // Takes what the socket received. Not to be called while !wants_bytes().
  void on_bytes(std::string_view bytes);
  void on_reply(node::RequestId id, node::Reply reply);

  // Bytes ready for the socket, in order; the caller removes what it has taken.
  std::string& output();
  // False while the pipeline or the output is full: stop reading from the socket. When it turns
  // true again (after on_reply, or after output was taken), call resume() to go on with bytes
  // already received.
  bool wants_bytes() const;
  void resume();
  // The connection is to be closed once output() has been sent (QUIT, a protocol error, ...).
  bool closing() const;
  // The connection is to be closed at once: its output is over the limit.
  bool overflowed() const;
  // Memory held for bytes that were received and wait to be understood.
  size_t input_capacity() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torc::resp
