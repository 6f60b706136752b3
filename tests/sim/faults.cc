#include "tests/sim/faults.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace torc::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr std::array<const char*, kFaultKinds> kNames = {
    "crash", "partition", "loss", "duplicate", "reorder",
    "clog",  "pause",     "skew", "slow-disk", "stream-chaos"};

}  // namespace

const char* to_string(FaultKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::expected<FaultSet, std::string> FaultSet::parse(std::string_view list) {
  if (list == "all") return all();
  FaultSet result = none();
  if (list == "none") return result;
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    const auto known = std::ranges::find(kNames, name);
    if (known == kNames.end()) {
      std::string error = "unknown fault '" + std::string(name) + "'; known: all, none";
      for (const char* each : kNames) error += std::string(", ") + each;
      return std::unexpected(error);
    }
    result.set(static_cast<FaultKind>(known - kNames.begin()));
    if (comma == std::string_view::npos) return result;
    list.remove_prefix(comma + 1);
  }
}

uint32_t FaultSet::count() const {
  return static_cast<uint32_t>(std::popcount(bits_));
}

std::string FaultSet::to_string() const {
  if (bits_ == 0) return "none";
  if (bits_ == all().bits_) return "all";
  std::string result;
  for (uint32_t kind = 0; kind < kFaultKinds; ++kind) {
    if (!has(static_cast<FaultKind>(kind))) continue;
    if (!result.empty()) result += ',';
    result += kNames[kind];
  }
  return result;
}

Faults::Faults(Cluster& cluster, FaultSet allowed, Random random)
    : cluster_(cluster), allowed_(allowed), random_(random), gaps_(kFaultKinds) {}

void Faults::start(uint32_t hurry) {
  ++round_;
  active_ = true;
  mix_ = FaultSet::none();
  for (uint32_t i = 0; i < kFaultKinds; ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (!allowed_.has(kind) || (allowed_.count() > 2 && !random_.chance(600'000))) continue;
    gaps_[i] = Duration(milliseconds(600)) * (1 << random_.below(4)) / hurry;
    mix_.set(kind);
    if (kind == FaultKind::kSkew) skew(true);
    loop(kind);
  }
  cluster_.note(kNoNode, "faults: " + mix_.to_string());
}

void Faults::loop(FaultKind kind) {
  const Duration gap = gaps_[static_cast<size_t>(kind)];
  later(random_.between(gap / 4, gap * 2), [this, kind] {
    strike(kind);
    loop(kind);
  });
}

void Faults::later(Duration time, EventQueue::Action end) {
  cluster_.queue().after(time, [this, round = round_, action = std::move(end)]() mutable {
    if (round == round_) action();
  });
}

void Faults::strike(FaultKind kind) {
  switch (kind) {
    case FaultKind::kCrash:
      return crash();
    case FaultKind::kPartition:
      return partition();
    case FaultKind::kClog:
      return clog();
    case FaultKind::kPause:
      return pause();
    case FaultKind::kSkew:
      return skew(false);
    case FaultKind::kSlowDisk:
      return slow_disk();
    case FaultKind::kLoss:
    case FaultKind::kDuplicate:
    case FaultKind::kReorder:
    case FaultKind::kStreamChaos:
      return trouble(kind);
  }
}

std::vector<size_t> Faults::pick_nodes(size_t count) {
  std::vector<size_t> nodes(cluster_.size());
  std::iota(nodes.begin(), nodes.end(), size_t{0});
  for (size_t i = 0; i < count; ++i)
    std::swap(nodes[i], nodes[i + random_.below(nodes.size() - i)]);
  nodes.resize(count);
  return nodes;
}

void Faults::crash() {
  const uint64_t dice = random_.below(100);
  const size_t majority = cluster_.size() / 2 + 1;
  const size_t count = dice < 75 ? 1 : dice < 90 ? majority : cluster_.size();
  if (count > 1) ++figures_.mass_crashes;
  // A machine room that loses power loses it at once; otherwise one falls after the other.
  const bool at_once = random_.coin();
  for (size_t i : pick_nodes(count)) {
    if (at_once) {
      kill(i);
    } else {
      later(random_.between(Duration(0), milliseconds(300)), [this, i] { kill(i); });
    }
  }
}

void Faults::kill(size_t i) {
  SimNode& node = cluster_.node(i);
  // Before its first epoch is durable there is no cluster that could survive its founder.
  if (!node.running() || (i == 0 && cluster_.newest_epoch() == 0)) return;
  if (random_.chance(150'000)) {
    ++figures_.stops;
    cluster_.note(i, "is stopped");
    node.stop();
  } else {
    ++figures_.crashes;
    cluster_.crash(i);
  }
  const Duration down = random_.coin() ? random_.between(milliseconds(5), milliseconds(400))
                                       : random_.between(milliseconds(400), seconds(6));
  later(down, [this, i] {
    // A machine that comes up may have lost its time of day.
    if (mix_.has(FaultKind::kSkew) && random_.coin()) jump_clock(i);
    cluster_.start(i);
  });
}

void Faults::partition() {
  ++figures_.partitions;
  const Links links = pick_links();
  std::string text = "cut:";
  for (const auto& [from, to] : links) {
    cluster_.network().cut(from, to);
    text += " " + std::to_string(from + 1) + ">" + std::to_string(to + 1);
  }
  cluster_.note(kNoNode, text);
  later(random_.between(milliseconds(50), seconds(6)), [this, links] {
    for (const auto& [from, to] : links) cluster_.network().mend(from, to);
    cluster_.note(kNoNode, "a cut is mended");
  });
}

Faults::Links Faults::pick_links() {
  const size_t nodes = cluster_.size();
  const uint64_t dice = random_.below(100);
  if (nodes < 2) return {};
  // A few nodes against the rest: one alone, or up to half; both ways, or only out of them or into
  // them.
  const size_t count = dice < 50 ? 1 : 1 + random_.below(std::max<size_t>(nodes / 2, 1));
  const std::vector<size_t> group = pick_nodes(count);
  const uint64_t direction = random_.below(5);  // 0 out, 1 in, else both
  Links links;
  for (size_t a : group) {
    for (size_t b = 0; b < nodes; ++b) {
      if (std::ranges::find(group, b) != group.end()) continue;
      // Sometimes only some links, so that a can reach c through b alone.
      if (dice >= 85 && random_.coin()) continue;
      if (direction != 1) links.emplace_back(a, b);
      if (direction != 0) links.emplace_back(b, a);
    }
  }
  return links;
}

void Faults::clog() {
  ++figures_.clogs;
  const Links links = pick_links();
  const Duration delay = random_.coin() ? random_.between(milliseconds(10), milliseconds(300))
                                        : random_.between(milliseconds(300), seconds(4));
  for (const auto& [from, to] : links) cluster_.network().clog(from, to, delay);
  cluster_.note(kNoNode, std::to_string(links.size()) + " links clogged by " +
                             std::to_string(delay.count() / 1000) + " ms");
  later(random_.between(milliseconds(200), seconds(5)), [this, links] {
    for (const auto& [from, to] : links) cluster_.network().clog(from, to, Duration(0));
  });
}

void Faults::pause() {
  const size_t count = random_.chance(150'000) ? cluster_.size() / 2 + 1 : 1;
  for (size_t i : pick_nodes(count)) {
    if (!cluster_.node(i).running() || cluster_.node(i).paused()) continue;
    ++figures_.pauses;
    cluster_.note(i, "is paused");
    cluster_.node(i).pause();
    later(random_.coin() ? random_.between(milliseconds(5), seconds(1))
                         : random_.between(seconds(1), seconds(9)),
          [this, i] {
            if (cluster_.node(i).paused()) cluster_.note(i, "is resumed");
            cluster_.node(i).resume();
          });
  }
}

void Faults::skew(bool first) {
  if (first) {
    for (size_t i = 0; i < cluster_.size(); ++i) {
      cluster_.node(i).wall() = WallClock(random_.range(-2000, 2000), random_.range(-500, 500));
    }
    return;
  }
  jump_clock(random_.below(cluster_.size()));
}

void Faults::jump_clock(size_t i) {
  ++figures_.clock_jumps;
  const int64_t by_ms = random_.range(-3000, 3000);
  cluster_.note(i, "wall clock jumps by " + std::to_string(by_ms) + " ms");
  cluster_.node(i).wall().jump(by_ms);
}

void Faults::slow_disk() {
  ++figures_.slow_disks;
  const size_t i = random_.below(cluster_.size());
  const auto slowdown = static_cast<uint32_t>(10 << random_.below(7));
  cluster_.note(i, "disk " + std::to_string(slowdown) + " times slower");
  cluster_.node(i).disk().config().slowdown = slowdown;
  later(random_.between(milliseconds(200), seconds(4)),
        [this, i] { cluster_.node(i).disk().config().slowdown = 1; });
}

void Faults::trouble(FaultKind kind) {
  NetworkConfig& network = cluster_.network().config();
  const auto upto = [this](uint32_t most) {
    return static_cast<uint32_t>(random_.range(most / 100, most));
  };
  switch (kind) {
    case FaultKind::kLoss:
      network.datagram_loss = upto(400'000);
      network.stream_break = upto(20'000);
      break;
    case FaultKind::kDuplicate:
      network.datagram_duplicate = upto(300'000);
      break;
    case FaultKind::kReorder:
      network.datagram_reorder = upto(300'000);
      break;
    default:
      network.stream_loss = upto(30'000);
      network.stream_duplicate = upto(50'000);
      network.stream_reorder = upto(50'000);
  }
  cluster_.note(kNoNode, std::string("trouble: ") + to_string(kind));
  later(random_.between(milliseconds(200), seconds(5)), [this, kind] {
    NetworkConfig& now = cluster_.network().config();
    if (kind == FaultKind::kLoss) now.datagram_loss = now.stream_break = 0;
    if (kind == FaultKind::kDuplicate) now.datagram_duplicate = 0;
    if (kind == FaultKind::kReorder) now.datagram_reorder = 0;
    if (kind == FaultKind::kStreamChaos) {
      now.stream_loss = now.stream_duplicate = now.stream_reorder = 0;
    }
  });
}

void Faults::heal() {
  ++round_;
  active_ = false;
  cluster_.note(kNoNode, "all faults end");
  NetworkConfig& network = cluster_.network().config();
  network.datagram_loss = network.datagram_duplicate = network.datagram_reorder = 0;
  network.stream_break = network.stream_loss = network.stream_duplicate = network.stream_reorder =
      0;
  cluster_.heal_network();
  for (size_t i = 0; i < cluster_.size(); ++i) {
    cluster_.node(i).wall().correct();
    cluster_.node(i).disk().config().slowdown = 1;
    cluster_.node(i).resume();
    cluster_.start(i);
  }
}

}  // namespace torc::sim
