// Whatever a client sends, and whenever the Node answers: the session neither crashes nor gets
// stuck, and says what it would have said to one command at a time. The first eight bytes of the
// input choose the limits, the pieces in which the others arrive and the moments of the replies.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "tests/daemon/resp_fixture.h"

namespace torc::resp {
namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// The replies to the whole input, one command running at a time.
std::string one_by_one(std::string_view bytes, bool& overflowed) {
  Talk talk({.pipeline_max = 1});
  std::string said;
  talk.session.on_bytes(bytes);
  while (true) {
    talk.answer_all();
    said += talk.take();
    if (!talk.session.wants_bytes()) break;
    talk.session.resume();
    if (talk.node.running.empty() && talk.session.output().empty()) break;
  }
  overflowed = talk.session.overflowed();
  return said;
}

std::string interleaved(std::string_view bytes, uint64_t seed, bool with_errors, bool& overflowed) {
  std::minstd_rand random(static_cast<uint32_t>(seed ^ (seed >> 32)));
  Talk talk({.pipeline_max = 1 + random() % 8,
             .running_bytes_pause = 1 + random() % 4096,
             .output_bytes_pause = 1 + random() % 4096});
  if (with_errors) talk.node.broken["k"] = {node::ErrorReply::kTimeout, "outcome\r\nunknown"};
  std::string said;
  size_t sent = 0;
  while (sent < bytes.size() || !talk.node.running.empty() || !talk.session.output().empty()) {
    bool moved = false;
    if (sent < bytes.size() && talk.session.wants_bytes() && random() % 2 == 0) {
      const std::string_view piece = bytes.substr(sent, 1 + random() % 64);
      talk.session.on_bytes(piece);
      sent += piece.size();
      moved = true;
    }
    if (!talk.node.running.empty() && random() % 2 == 0) {
      talk.answer(random() % talk.node.running.size());
      moved = true;
    }
    if (random() % 2 == 0) {
      moved = moved || !talk.session.output().empty();
      said += talk.take();
    }
    if (talk.session.wants_bytes()) talk.session.resume();
    if (talk.session.overflowed() || talk.session.closing()) break;
    const bool can_move =
        !talk.node.running.empty() || !talk.session.output().empty() || talk.session.wants_bytes();
    require(moved || can_move, "a session that waits for nothing must read");
  }
  said += talk.take();
  overflowed = talk.session.overflowed();
  require(talk.node.running.empty() || overflowed, "all requests were answered");
  require(overflowed || talk.session.wants_bytes() || talk.session.closing(), "nothing is stuck");
  return said;
}

}  // namespace
}  // namespace torc::resp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  uint64_t seed = 0;
  if (size < sizeof seed) return 0;
  std::memcpy(&seed, data, sizeof seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + sizeof seed,
                               size - sizeof seed);
  bool cut_off = false;
  // With errors the two may differ: a command over many keys gives up what it has not asked for
  // yet.
  const bool with_errors = seed % 4 == 0;
  const std::string said = torc::resp::interleaved(bytes, seed, with_errors, cut_off);
  if (with_errors || cut_off) return 0;
  const std::string expected = torc::resp::one_by_one(bytes, cut_off);
  torc::resp::require(cut_off || said == expected, "the order of replies shows in the answers");
  return 0;
}
