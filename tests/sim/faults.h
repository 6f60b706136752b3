// Faults: what goes wrong in a run, at random times and for random whiles: kills, cuts, losses,
// clogs, pauses, wrong clocks, slow disks. Each run picks its own mix of the kinds allowed (swarm
// testing, Groce et al. 2012), and heal() ends all of it. Drives a Cluster; knows nothing of
// clients.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/cluster.h"
#include "tests/sim/random.h"

namespace torc::sim {

enum class FaultKind : uint32_t {
  kCrash,      // one node, sometimes most or all of them; killed, sometimes stopped
  kPartition,  // one node alone, two halves, or one direction of some links
  kLoss,       // of datagrams; streams break
  kDuplicate,  // of datagrams
  kReorder,    // of datagrams
  kClog,       // long delays on some links
  kPause,      // SIGSTOP for up to several seconds
  kSkew,       // wrong and jumping wall clocks
  kSlowDisk,
  kStreamChaos,  // streams, too, lose, double and reorder messages
};
constexpr uint32_t kFaultKinds = 10;
const char* to_string(FaultKind kind);

class FaultSet {
 public:
  static FaultSet none() { return FaultSet(0); }
  static FaultSet all() { return FaultSet((1u << kFaultKinds) - 1); }
  // "all", "none" or names joined by commas; the error names the stranger and lists the known ones.
  static std::expected<FaultSet, std::string> parse(std::string_view list);

  bool has(FaultKind kind) const { return (bits_ >> static_cast<uint32_t>(kind)) & 1; }
  void set(FaultKind kind) { bits_ |= 1u << static_cast<uint32_t>(kind); }
  uint32_t count() const;
  std::string to_string() const;

 private:
  explicit FaultSet(uint32_t bits) : bits_(bits) {}
  uint32_t bits_;
};

struct FaultFigures {
  uint64_t crashes = 0;  // nodes killed
  uint64_t stops = 0;    // nodes stopped in good order
  uint64_t mass_crashes = 0;
  uint64_t partitions = 0;
  uint64_t clogs = 0;
  uint64_t pauses = 0;
  uint64_t clock_jumps = 0;
  uint64_t slow_disks = 0;
};

class Faults {
 public:
  Faults(Cluster& cluster, FaultSet allowed, Random random);

  // Begins, or begins again, with a fresh mix; faults come `hurry` times as often.
  void start(uint32_t hurry = 1);
  // Ends every fault: all nodes run, all clocks are right, the network and the disks are whole.
  void heal();

  bool active() const { return active_; }
  const FaultFigures& figures() const { return figures_; }

 private:
  using Links = std::vector<std::pair<size_t, size_t>>;

  void loop(FaultKind kind);
  void strike(FaultKind kind);
  // Runs `end` after `time` unless all was healed before.
  void later(Duration time, EventQueue::Action end);

  void crash();
  void kill(size_t i);
  void partition();
  void clog();
  void pause();
  void skew(bool first);
  void jump_clock(size_t i);
  void slow_disk();
  void trouble(FaultKind kind);  // a while of lossy, doubling, reordering or chaotic network
  std::vector<size_t> pick_nodes(size_t count);
  Links pick_links();

  Cluster& cluster_;
  FaultSet allowed_;
  Random random_;
  FaultFigures figures_;
  bool active_ = false;
  uint64_t round_ = 0;  // of start() and heal(); events of earlier rounds do nothing
  std::vector<Duration> gaps_;
  FaultSet mix_ = FaultSet::none();
};

}  // namespace torc::sim
