#include "daemon/node/joiner.h"

#include <algorithm>
#include <utility>

#include "daemon/node/founder.h"
#include "daemon/node/join_check.h"

namespace torc::node {

constexpr size_t kReasonBytesMax = 500;

void Joiner::start() {
  std::string wrong = check_newcomer(self_as_member(context_));
  std::ranges::remove_copy(context_.config.join, std::back_inserter(seeds_), context_.config.peer);
  if (seeds_.empty()) wrong = "the only daemon to ask is this one itself";
  if (!wrong.empty()) return context_.env.stop(ExitCode::kRefused, "cannot join: " + wrong);
  ask();
}

void Joiner::ask() {
  const Address& seed = seeds_[asked_ % seeds_.size()];
  if (asked_ == 0) {
    context_.env.log(LogLevel::kInfo, "asks " + seed.to_string() + " to join its cluster");
  } else if (asked_ % kAsksPerLogLine == 0) {
    context_.env.log(
        LogLevel::kWarning,
        "still waits to join, nobody answers; the cluster's founder decides who joins, "
        "and may be down (asks " +
            seed.to_string() + " next)");
  }
  ++asked_;
  pb::Envelope message;
  *message.mutable_join()->mutable_member() = self_as_member(context_);
  context_.send(seed, Channel::kStream, message);

  const Duration jitter(context_.env.random() % static_cast<uint64_t>(kAskInterval.count() / 2));
  timer_ =
      context_.deadlines.set(context_.now.at + kAskInterval * 3 / 4 + jitter, Part::kJoiner, 0);
}

void Joiner::on_deadline() {
  ask();
}

void Joiner::on_refused(const pb::Envelope& message) {
  if (timer_ == 0) return;
  finish();
  context_.env.stop(ExitCode::kRefused,
                    "the cluster refused this daemon: " +
                        printable(message.join_refused().reason(), kReasonBytesMax));
}

void Joiner::finish() {
  context_.deadlines.cancel(std::exchange(timer_, 0));
}

}  // namespace torc::node
