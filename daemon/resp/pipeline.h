// Pipeline: the commands of one connection between their arrival and their answer. Requests of one
// key are submitted one after another, others at once; answers leave in the order of the commands;
// the number of entries and the bytes they hold are bounded by the caller asking has_room(). Owned
// by a Session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/node/request.h"
#include "daemon/resp/key_order.h"
#include "daemon/resp/rendering.h"
#include "daemon/resp/reply.h"
#include "daemon/resp/session.h"

namespace torc::resp {

class Pipeline {
 public:
  Pipeline(uint32_t session_id, const SessionLimits& limits, SessionEnv& env);

  // Is there room for one more command, or one more key of a command that has begun? REQUIRES of
  // add_*: yes.
  bool has_room() const;
  bool has_room_for_part() const;

  // A command that is answered already.
  void add_text(std::string_view text);
  void add(Rendering rendering, Protocol protocol, node::Request request);

  // A read of the same key, then `put`; the answer shows what was read if `rendering` is kValue.
  struct ReadThenWrite {
    bool keep_expiry = false;    // the value written inherits the expiry of the one read
    bool only_if_found = false;  // nothing is written where nothing was
    node::Level read_level;
    node::PutRequest put;
  };
  void add_read_then_write(Rendering rendering, Protocol protocol, ReadThenWrite command);
  // Ends a command whose keys were added as parts; never lacks room.
  void add_end(Rendering end, Protocol protocol);
  // Has a part of the command that is being added failed, so that its other keys are in vain?
  bool unfinished_command_failed() const { return ends_ == 0 && gather_.failed(); }

  void on_reply(node::RequestId id, node::Reply reply);

  std::string& output() { return output_; }
  bool empty() const { return count_ == 0; }
  bool overflowed() const { return overflowed_; }

 private:
  enum class State : uint8_t { kParked, kRunning, kDone };

  struct Entry {
    State state = State::kDone;
    Rendering rendering = Rendering::kText;
    Protocol protocol = Protocol::kResp2;
    bool reads = false;       // counted in reads_ until done
    bool read_first = false;  // a ReadThenWrite that has not read yet
    bool keep_expiry = false;
    bool only_if_found = false;
    bool has_key = false;
    bool has_follower = false;
    node::Level read_level;
    uint32_t follower = 0;     // the next entry of the same key
    size_t request_bytes = 0;  // counted in running_bytes_ until done
    uint64_t key_hash = 0;
    // Nothing, or what waits to be submitted, or the answer (a Reply, or its text).
    std::variant<std::monostate, node::Request, node::Reply, std::string> content;
  };

  Entry& entry(uint32_t sequence) { return ring_[sequence & (ring_.size() - 1)]; }
  Entry& push(Rendering rendering, Protocol protocol);
  void enqueue(Entry& added, node::Request request);
  void submit(uint32_t sequence);
  void complete(uint32_t sequence, node::Reply reply);
  // Writes the answers whose turn it is.
  void flush();
  void write(Entry& front);
  void check_output();
  // Bytes of answers that have not been taken.
  size_t answer_bytes() const { return output_.size() + waiting_bytes_ + gather_.bytes(); }

  const uint32_t session_id_;
  const SessionLimits limits_;
  SessionEnv& env_;

  // Entries by sequence number, which is also the low half of their request's id; size a power of
  // two.
  std::vector<Entry> ring_;
  uint32_t head_ = 0;  // the sequence of the oldest entry
  uint32_t count_ = 0;
  KeyOrder key_order_;

  Gather gather_;
  std::string output_;
  size_t ends_ = 0;           // ends of commands among the entries
  size_t running_bytes_ = 0;  // keys and values of requests without a reply
  size_t waiting_bytes_ = 0;  // answers that wait for their turn
  size_t reads_ = 0;          // requests under way that return a value
  size_t read_bytes_expected_;
  bool overflowed_ = false;
};

}  // namespace torc::resp
