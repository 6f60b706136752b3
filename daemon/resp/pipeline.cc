#include "daemon/resp/pipeline.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

namespace torc::resp {
namespace {

// What a value is taken to measure until the connection has read some. Small enough that a client
// which reads many large values is slowed down before its answers overflow, and forgotten after a
// few small ones.
constexpr size_t kReadBytesExpectedFirst = 1024 * 1024;

const std::string* key_of(const node::Request& request) {
  if (const auto* get = std::get_if<node::GetRequest>(&request)) return &get->key;
  if (const auto* put = std::get_if<node::PutRequest>(&request)) return &put->key;
  return nullptr;
}

size_t bytes_of(const node::Request& request) {
  if (const auto* get = std::get_if<node::GetRequest>(&request)) return get->key.size();
  if (const auto* put = std::get_if<node::PutRequest>(&request)) {
    return put->key.size() + put->value.size();
  }
  return 0;
}

size_t bytes_of(const node::Reply& reply) {
  if (const auto* get = std::get_if<node::GetReply>(&reply)) return get->record.size();
  if (const auto* text = std::get_if<node::TextReply>(&reply)) return text->text.size();
  return 0;
}

}  // namespace

Pipeline::Pipeline(uint32_t session_id, const SessionLimits& limits, SessionEnv& env)
    : session_id_(session_id),
      limits_(limits),
      env_(env),
      read_bytes_expected_(kReadBytesExpectedFirst) {}

bool Pipeline::has_room_for_part() const {
  if (overflowed_ || count_ >= limits_.pipeline_max) return false;
  if (running_bytes_ >= limits_.running_bytes_pause) return false;
  // One read at a time always runs; more of them only while the answers of all should fit.
  return reads_ == 0 ||
         answer_bytes() + (reads_ + 1) * read_bytes_expected_ <= limits_.output_bytes_max;
}

bool Pipeline::has_room() const {
  return has_room_for_part() && answer_bytes() < limits_.output_bytes_pause;
}

void Pipeline::add_text(std::string_view text) {
  if (empty()) {
    output_.append(text);
  } else {
    push(Rendering::kText, Protocol::kResp2).content = std::string(text);
    waiting_bytes_ += text.size();
  }
  check_output();
}

void Pipeline::add(Rendering rendering, Protocol protocol, node::Request request) {
  Entry& added = push(rendering, protocol);
  added.reads = std::holds_alternative<node::GetRequest>(request);
  enqueue(added, std::move(request));
}

void Pipeline::add_read_then_write(Rendering rendering, Protocol protocol, ReadThenWrite command) {
  Entry& added = push(rendering, protocol);
  added.reads = added.read_first = true;
  added.keep_expiry = command.keep_expiry;
  added.only_if_found = command.only_if_found;
  added.read_level = command.read_level;
  enqueue(added, std::move(command.put));
}

void Pipeline::add_end(Rendering end, Protocol protocol) {
  push(end, protocol);
  ++ends_;
  flush();
}

Pipeline::Entry& Pipeline::push(Rendering rendering, Protocol protocol) {
  if (count_ == ring_.size()) {
    std::vector<Entry> larger(ring_.empty() ? 4 : 2 * ring_.size());
    for (uint32_t i = 0; i < count_; ++i) {
      larger[(head_ + i) & (larger.size() - 1)] = std::move(entry(head_ + i));
    }
    ring_ = std::move(larger);
  }
  Entry& added = entry(head_ + count_++);
  added = Entry();
  added.rendering = rendering;
  added.protocol = protocol;
  return added;
}

void Pipeline::enqueue(Entry& added, node::Request request) {
  const uint32_t sequence = head_ + count_ - 1;
  added.request_bytes = bytes_of(request);
  running_bytes_ += added.request_bytes;
  reads_ += added.reads ? 1 : 0;
  added.state = State::kParked;
  const std::string* key = key_of(request);
  std::optional<uint32_t> before;
  if (key != nullptr) {
    added.has_key = true;
    added.key_hash = std::hash<std::string_view>()(*key);
    before = key_order_.enter(added.key_hash, sequence);
  }
  added.content = std::move(request);
  if (before) {
    entry(*before).has_follower = true;
    entry(*before).follower = sequence;
  } else {
    submit(sequence);
  }
}

void Pipeline::submit(uint32_t sequence) {
  Entry& parked = entry(sequence);
  parked.state = State::kRunning;
  const node::RequestId id = (static_cast<uint64_t>(session_id_) << 32) | sequence;
  auto& request = std::get<node::Request>(parked.content);
  if (parked.read_first) {
    env_.submit(id, node::GetRequest{*key_of(request), parked.read_level});
    return;
  }
  node::Request moved = std::move(request);
  parked.content = std::monostate();
  env_.submit(id, std::move(moved));
}

void Pipeline::on_reply(node::RequestId id, node::Reply reply) {
  if (overflowed_) return;  // the connection is lost; what was under way may still end
  assert(id >> 32 == session_id_);
  const auto sequence = static_cast<uint32_t>(id);
  assert(sequence - head_ < count_);
  Entry& running = entry(sequence);
  assert(running.state == State::kRunning);
  const auto* read = std::get_if<node::GetReply>(&reply);
  if (!running.read_first || read == nullptr) return complete(sequence, std::move(reply));

  // The read of a ReadThenWrite.
  running.read_first = false;
  if (running.only_if_found && !read->found) return complete(sequence, std::move(reply));
  auto put = std::move(std::get<node::PutRequest>(std::get<node::Request>(running.content)));
  if (running.keep_expiry && read->found && read->expires_at_ms != 0) {
    put.expires_at_ms = read->expires_at_ms;
  }
  if (running.rendering == Rendering::kValue) {
    waiting_bytes_ += bytes_of(reply);
    running.content = std::move(reply);
  } else {
    running.content = std::monostate();
  }
  env_.submit(id, std::move(put));
  check_output();
}

void Pipeline::complete(uint32_t sequence, node::Reply reply) {
  Entry& done = entry(sequence);
  done.state = State::kDone;
  running_bytes_ -= done.request_bytes;
  if (done.reads) {
    --reads_;
    read_bytes_expected_ =
        std::max(bytes_of(reply), read_bytes_expected_ - read_bytes_expected_ / 4);
  }
  const bool shows_what_was_read = std::holds_alternative<node::Reply>(done.content);
  const bool failed = std::holds_alternative<node::ErrorReply>(reply);
  if (shows_what_was_read && failed) {
    waiting_bytes_ -= bytes_of(std::get<node::Reply>(done.content));
  }
  if (!shows_what_was_read || failed) {
    waiting_bytes_ += bytes_of(reply);
    done.content = std::move(reply);
  }
  if (done.has_key) key_order_.leave(done.key_hash, sequence);
  if (done.has_follower) submit(done.follower);
  flush();
}

void Pipeline::flush() {
  while (count_ > 0 && entry(head_).state == State::kDone) {
    Entry& front = entry(head_);
    write(front);
    front.content = std::monostate();
    ++head_;
    --count_;
  }
  check_output();
}

void Pipeline::write(Entry& front) {
  if (const auto* text = std::get_if<std::string>(&front.content)) {
    waiting_bytes_ -= text->size();
    output_.append(*text);
    return;
  }
  if (is_end(front.rendering)) {
    --ends_;
    return gather_.finish(front.rendering, output_, front.protocol);
  }
  const auto& reply = std::get<node::Reply>(front.content);
  waiting_bytes_ -= bytes_of(reply);
  if (is_part(front.rendering)) {
    gather_.take(front.rendering, reply, front.protocol);
  } else {
    render(front.rendering, reply, ReplyWriter(output_, front.protocol));
  }
}

void Pipeline::check_output() {
  if (answer_bytes() <= limits_.output_bytes_max) return;
  overflowed_ = true;
  std::string().swap(output_);
  std::vector<Entry>().swap(ring_);
  gather_ = Gather();
  count_ = 0;
  waiting_bytes_ = 0;
}

}  // namespace torc::resp
