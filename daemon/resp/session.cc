#include "daemon/resp/session.h"

#include <utility>

#include "daemon/resp/commands.h"
#include "daemon/resp/connection.h"
#include "daemon/resp/parser.h"
#include "daemon/resp/pipeline.h"
#include "daemon/resp/plan.h"

namespace torc::resp {
namespace {

// Buffers that grew beyond this are given back once they are empty.
constexpr size_t kBufferBytesKept = 256 * 1024;

void release_if_large(std::string& buffer) {
  if (buffer.capacity() > kBufferBytesKept) std::string().swap(buffer);
}

}  // namespace

class Session::Impl {
 public:
  Impl(SessionInfo info, SessionLimits limits, SessionEnv& env)
      : parser_(limits), pipeline_(info.id, limits, env) {
    connection_.info = std::move(info);
  }

  void on_bytes(std::string_view bytes) {
    if (stopped()) return;
    if (input_.empty()) {
      // The usual case: whole commands, parsed where the socket put them.
      const size_t used = consume(bytes);
      input_.append(bytes.substr(used));
      return;
    }
    // What was consumed is at least as much as is moved, so all moves together stay linear.
    if (consumed_ > input_.size() - consumed_) {
      input_.erase(0, consumed_);
      consumed_ = 0;
    }
    input_.append(bytes);
    resume();
  }

  void resume() {
    consumed_ += consume(std::string_view(input_).substr(consumed_));
    if (consumed_ < input_.size()) return;
    input_.clear();
    consumed_ = 0;
    release_if_large(input_);
  }

  void on_reply(node::RequestId id, node::Reply reply) { pipeline_.on_reply(id, std::move(reply)); }

  std::string& output() { return pipeline_.output(); }

  bool wants_bytes() const {
    if (stopped()) return false;
    return in_parts_ ? pipeline_.has_room_for_part() : pipeline_.has_room();
  }

  bool closing() const { return stopping_ && pipeline_.empty(); }
  bool overflowed() const { return pipeline_.overflowed(); }
  size_t input_capacity() const { return input_.capacity(); }

 private:
  bool stopped() const { return stopping_ || pipeline_.overflowed(); }

  // Carries out the commands that `bytes` begin with, as long as there is room; returns how many
  // bytes are done with.
  size_t consume(std::string_view bytes) {
    size_t used = 0;
    while (wants_bytes()) {
      const std::string_view rest = bytes.substr(used);
      if (!in_parts_) {
        const Parser::Outcome outcome = parser_.parse(rest);
        if (outcome == Parser::Outcome::kMore) return used;
        if (outcome == Parser::Outcome::kError) {
          stop_with_error();
          break;
        }
        begin_command(parser_.arguments(rest));
      }
      if (in_parts_ && !add_parts(parser_.arguments(rest))) return used;
      used += parser_.consumed();
      parser_.reset();
    }
    // Whatever follows the last command of a connection is not looked at.
    return stopped() ? bytes.size() : used;
  }

  void begin_command(const Arguments& arguments) {
    if (arguments.size() == 0) return;
    plan_command(arguments, connection_, plan_);
    switch (plan_.kind) {
      case Plan::Kind::kAnswerAndClose:
        stopping_ = true;
        [[fallthrough]];
      case Plan::Kind::kAnswer:
        pipeline_.add_text(plan_.answer);
        plan_.answer.clear();
        return release_if_large(plan_.answer);
      case Plan::Kind::kRequest:
        return pipeline_.add(plan_.rendering, connection_.protocol, std::move(plan_.request));
      case Plan::Kind::kReadThenWrite:
        return pipeline_.add_read_then_write(plan_.rendering, connection_.protocol,
                                             std::move(plan_.read_then_write));
      case Plan::Kind::kEachKey:
        in_parts_ = true;
        next_part_ = 0;
    }
  }

  // Goes on with a command over several keys; returns whether it is complete.
  bool add_parts(const Arguments& arguments) {
    const size_t parts = part_count(plan_, arguments);
    while (next_part_ < parts && !pipeline_.unfinished_command_failed()) {
      if (!pipeline_.has_room_for_part()) return false;
      pipeline_.add(plan_.rendering, connection_.protocol,
                    part_request(plan_, arguments, next_part_, connection_));
      ++next_part_;
    }
    pipeline_.add_end(plan_.end, connection_.protocol);
    in_parts_ = false;
    return true;
  }

  void stop_with_error() {
    std::string text;
    ReplyWriter(text, connection_.protocol).error("ERR Protocol error: " + parser_.error());
    pipeline_.add_text(text);
    stopping_ = true;
  }

  Parser parser_;
  Pipeline pipeline_;
  Connection connection_;
  Plan plan_;
  bool in_parts_ = false;  // plan_ is of a command that has keys left, and whose bytes are kept
  size_t next_part_ = 0;
  bool stopping_ = false;  // nothing is read any more

  std::string input_;    // received and not understood yet; empty as long as commands arrive whole
  size_t consumed_ = 0;  // of input_
};

Session::Session(SessionInfo info, SessionLimits limits, SessionEnv& env)
    : impl_(std::make_unique<Impl>(std::move(info), limits, env)) {}

Session::~Session() = default;

void Session::on_bytes(std::string_view bytes) {
  impl_->on_bytes(bytes);
}

void Session::on_reply(node::RequestId id, node::Reply reply) {
  impl_->on_reply(id, std::move(reply));
}

std::string& Session::output() {
  return impl_->output();
}

bool Session::wants_bytes() const {
  return impl_->wants_bytes();
}

void Session::resume() {
  impl_->resume();
}

bool Session::closing() const {
  return impl_->closing();
}

bool Session::overflowed() const {
  return impl_->overflowed();
}

size_t Session::input_capacity() const {
  return impl_->input_capacity();
}

}  // namespace torc::resp
