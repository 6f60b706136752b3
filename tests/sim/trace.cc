#include "tests/sim/trace.h"

#include <xxhash.h>

#include <array>
#include <cstdio>

namespace torc::sim {

const char* to_string(EventKind kind) {
  switch (kind) {
    case EventKind::kStart:
      return "start";
    case EventKind::kCrash:
      return "crash";
    case EventKind::kStop:
      return "stop";
    case EventKind::kPause:
      return "pause";
    case EventKind::kResume:
      return "resume";
    case EventKind::kMessage:
      return "message";
    case EventKind::kStorage:
      return "storage";
    case EventKind::kTime:
      return "time";
    case EventKind::kPeerLost:
      return "peer-lost";
    case EventKind::kCommand:
      return "command";
    case EventKind::kClientLost:
      return "client-lost";
    case EventKind::kAnswer:
      return "answer";
    case EventKind::kFault:
      return "fault";
  }
  return "?";
}

void Trace::record(Instant at, size_t node, EventKind kind, std::string_view bytes) {
  const std::array<uint64_t, 5> link = {hash_, static_cast<uint64_t>(at.time_since_epoch().count()),
                                        node, static_cast<uint64_t>(kind),
                                        XXH3_64bits(bytes.data(), bytes.size())};
  hash_ = XXH3_64bits(link.data(), sizeof(link));
}

void Trace::say(Instant at, size_t node, std::string_view text) const {
  const auto us = static_cast<long long>(at.time_since_epoch().count());
  if (node == kNoNode) {
    std::fprintf(stderr, "%4lld.%06lld  --  ", us / 1'000'000, us % 1'000'000);
  } else {
    std::fprintf(stderr, "%4lld.%06lld  n%zu  ", us / 1'000'000, us % 1'000'000, node + 1);
  }
  std::fprintf(stderr, "%.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace torc::sim
