#include "tests/sim/simulation.h"

#include <algorithm>
#include <array>
#include <functional>

#include "tests/sim/history.h"
#include "tests/sim/workload.h"

namespace torc::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

// A run that needs more has lost itself in a loop.
constexpr uint64_t kEventsMax = 5'000'000;
// After the last fault: gossip redials and pushes its whole state every 30 s.
constexpr Duration kSettleMax = seconds(120);
constexpr Duration kClogMax = seconds(12);
constexpr Duration kDrainMax = Cluster::kRequestTimeout + seconds(1);

// The shape of the cluster is part of the seed, too.
ClusterOptions shape(uint64_t seed, const SimulationOptions& options) {
  Random random = Random(seed).fork("shape");
  ClusterOptions cluster;
  cluster.seed = seed;
  cluster.nodes = options.nodes;
  cluster.bug = options.bug;
  cluster.verbose = options.verbose;
  cluster.partitions = 4u << random.below(4);
  constexpr std::array<uint32_t, 8> kReplications = {3, 3, 3, 3, 3, 5, 2, 1};
  cluster.replication = kReplications[random.below(kReplications.size())];
  // A planted bug must be able to show; with one replica there is no quorum to fool.
  if (options.bug != PlantedBug::kNone) cluster.replication = 3;
  // With the defaults a cut cluster is often unavailable for half a minute after it is whole again;
  // quicker gossip gives more to see in less time.
  if (random.chance(800'000)) {
    cluster.gossip.push_pull_interval = milliseconds(random.range(1000, 10'000));
    cluster.gossip.redial_interval = milliseconds(random.range(300, 4000));
  }
  if (random.coin()) {
    cluster.gossip.probe_interval = milliseconds(250);
    cluster.gossip.probe_timeout = milliseconds(100);
  }
  if (random.chance(300'000)) {
    cluster.disk.sync_min = milliseconds(2);
    cluster.disk.sync_max = milliseconds(15);
  }
  return cluster;
}

// One run, phase by phase; `step` is the only one that lets time pass.
class Run {
 public:
  Run(uint64_t seed, const SimulationOptions& options)
      : options_(options),
        cluster_(shape(seed, options)),
        random_(cluster_.random().fork("simulation")),
        faults_(cluster_, options.faults, cluster_.random().fork("faults")),
        workload_(cluster_, history_, WorkloadConfig{}, cluster_.random().fork("workload")) {
    NetworkConfig& network = cluster_.network().config();
    if (random_.chance(250'000)) {  // machines far apart
      network.latency_min = milliseconds(5);
      network.latency_max = milliseconds(40);
    }
  }

  SimulationResult run() {
    bootstrap();
    work();
    settle();
    read_everything();
    return result();
  }

 private:
  // The daemons start one by one, or all at once, while things may break already; and clients may
  // come as soon as everybody has joined, which not everybody knows then.
  void bootstrap() {
    const bool troubled = random_.coin() && options_.faults.count() > 0;
    const bool at_once = random_.chance(250'000);
    for (size_t i = 0; i < cluster_.size(); ++i) {
      const Duration delay = at_once ? Duration(0) : random_.between(Duration(0), seconds(2));
      cluster_.queue().after(delay, [this, i] { cluster_.start(i); });
    }
    if (troubled) {
      maybe_leave_one_behind();
      faults_.start(static_cast<uint32_t>(random_.range(1, 6)));
      const bool hasty = random_.chance(700'000);
      if (step(random_.between(milliseconds(100), seconds(8)),
               [this, hasty] { return hasty && cluster_.everybody_joined(); })) {
        return;
      }
      faults_.heal();
    }
    if (!step(kSettleMax, [this] { return cluster_.settled(); })) {
      fail_stuck("the daemons did not become one settled cluster");
    }
  }

  // A daemon that is cut off while others join has an older epoch than they, and does not know it.
  void maybe_leave_one_behind() {
    if (!options_.faults.has(FaultKind::kPartition) || cluster_.size() < 2) return;
    if (!random_.chance(400'000)) return;
    const size_t lonely = 1 + random_.below(cluster_.size() - 1);
    const auto both_ways = [this, lonely](auto change) {
      for (size_t other = 0; other < cluster_.size(); ++other) {
        if (other == lonely) continue;
        change(lonely, other);
        change(other, lonely);
      }
    };
    cluster_.queue().after(random_.between(Duration(0), milliseconds(2500)), [this, both_ways] {
      both_ways([this](size_t a, size_t b) { cluster_.network().cut(a, b); });
    });
    cluster_.queue().after(random_.between(seconds(3), seconds(8)), [this, both_ways] {
      both_ways([this](size_t a, size_t b) { cluster_.network().mend(a, b); });
    });
  }

  void work() {
    workload_.start();
    if (!faults_.active()) faults_.start();
    step(options_.time, [] { return false; });
    faults_.heal();
    workload_.stop();
    if (!step(kDrainMax, [this] { return workload_.requests_running() == 0; })) {
      fail_stuck("requests still run after all faults have ended");
    }
  }

  void settle() {
    // Messages on links that were clogged still stand in their queue.
    step(kClogMax, [] { return false; });
    if (!step(kSettleMax, [this] { return cluster_.settled(); })) {
      fail_stuck("the cluster did not settle after all faults had ended");
    }
  }

  // Every node must know every key's newest version, and must be able to say so now.
  void read_everything() {
    const WorkloadFigures before = workload_.figures();
    for (size_t i = 0; i < cluster_.size(); ++i) {
      for (const std::string& key : history_.keys()) {
        if (!cluster_.verdict().clean()) return;
        workload_.get(i, key);
        if (!step(kDrainMax, [this] { return workload_.requests_running() == 0; })) {
          fail_stuck("the last reads are not answered");
        }
      }
    }
    const WorkloadFigures& after = workload_.figures();
    if (after.unavailable != before.unavailable || after.timeouts != before.timeouts ||
        after.errors != before.errors) {
      cluster_.verdict().fail(Outcome::kWrong, "a healed cluster refuses a read");
    }
  }

  // Runs until `done` or for `limit`, or until the run has failed; true when done.
  bool step(Duration limit, const std::function<bool()>& done) {
    const Instant end = cluster_.now() + limit;
    while (cluster_.verdict().clean() && !done()) {
      if (cluster_.now() >= end) return false;
      if (cluster_.queue().executed() > kEventsMax) {
        fail_stuck("too many events: something goes round in circles");
        return false;
      }
      cluster_.queue().run_until(std::min(end, cluster_.now() + milliseconds(5)));
    }
    return cluster_.verdict().clean();
  }

  void fail_stuck(std::string message) {
    cluster_.verdict().fail(Outcome::kStuck, std::move(message));
  }

  SimulationResult result() {
    SimulationResult result;
    result.outcome = cluster_.verdict().outcome();
    result.message = cluster_.verdict().message();
    result.trace_hash = cluster_.trace().hash();
    SimulationFigures& sums = result.figures;
    const WorkloadFigures& work = workload_.figures();
    const FaultFigures& faults = faults_.figures();
    const NetworkFigures& network = cluster_.network().figures();
    sums = {
        .puts = work.puts,
        .deletes = work.deletes,
        .gets_found = work.gets_found,
        .gets_absent = work.gets_absent,
        .unavailable = work.unavailable,
        .timeouts = work.timeouts,
        .errors = work.errors,
        .unknown = work.unknown,
        .crashes = faults.crashes,
        .stops = faults.stops,
        .mass_crashes = faults.mass_crashes,
        .partitions = faults.partitions,
        .clogs = faults.clogs,
        .pauses = faults.pauses,
        .clock_jumps = faults.clock_jumps,
        .slow_disks = faults.slow_disks,
        .messages = network.sent,
        .messages_lost = network.lost,
        .messages_doubled = network.duplicated,
        .streams_broken = network.streams_broken,
        .events = cluster_.queue().executed(),
        .simulated_ms = static_cast<uint64_t>(cluster_.now().time_since_epoch().count()) / 1000};
    for (size_t i = 0; i < cluster_.size(); ++i) {
      sums.batches_lost += cluster_.node(i).disk().figures().batches_lost;
    }
    return result;
  }

  const SimulationOptions& options_;
  Cluster cluster_;
  Random random_;
  History history_;
  Faults faults_;
  Workload workload_;
};

}  // namespace

void SimulationFigures::add(const SimulationFigures& other) {
  puts += other.puts;
  deletes += other.deletes;
  gets_found += other.gets_found;
  gets_absent += other.gets_absent;
  unavailable += other.unavailable;
  timeouts += other.timeouts;
  errors += other.errors;
  unknown += other.unknown;
  crashes += other.crashes;
  stops += other.stops;
  mass_crashes += other.mass_crashes;
  partitions += other.partitions;
  clogs += other.clogs;
  pauses += other.pauses;
  clock_jumps += other.clock_jumps;
  slow_disks += other.slow_disks;
  messages += other.messages;
  messages_lost += other.messages_lost;
  messages_doubled += other.messages_doubled;
  streams_broken += other.streams_broken;
  batches_lost += other.batches_lost;
  events += other.events;
  simulated_ms += other.simulated_ms;
}

std::string SimulationFigures::to_string() const {
  const auto n = [](uint64_t value) { return std::to_string(value); };
  return "acknowledged: " + n(puts) + " puts, " + n(deletes) + " deletes; read: " + n(gets_found) +
         " values, " + n(gets_absent) + " absent\n" + "not answered so: " + n(unavailable) +
         " unavailable, " + n(timeouts) + " timeouts, " + n(errors) + " errors, " + n(unknown) +
         " unknown\n" + "faults: " + n(crashes) + " kills, " + n(stops) + " stops, " +
         n(mass_crashes) + " of many at once, " + n(partitions) + " partitions, " + n(clogs) +
         " clogs, " + n(pauses) + " pauses, " + n(clock_jumps) + " clock jumps, " + n(slow_disks) +
         " slow disks\n" + "messages: " + n(messages) + " sent, " + n(messages_lost) + " lost, " +
         n(messages_doubled) + " doubled; " + n(streams_broken) + " streams broken, " +
         n(batches_lost) + " disk batches lost\n" + n(events) + " events in " +
         n(simulated_ms / 1000) + " simulated seconds";
}

SimulationResult simulate(uint64_t seed, const SimulationOptions& options) {
  return Run(seed, options).run();
}

}  // namespace torc::sim
