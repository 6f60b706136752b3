// Whole runs: they repeat exactly, they come out clean, and they do not when a bug is planted.
#include "tests/sim/simulation.h"

#include <doctest/doctest.h>

#include <string>

namespace torc::sim {
namespace {

using std::chrono::seconds;

SimulationOptions short_run(size_t nodes) {
  SimulationOptions options;
  options.nodes = nodes;
  options.time = seconds(10);
  return options;
}

void check_clean(uint64_t seed, const SimulationOptions& options) {
  const SimulationResult result = simulate(seed, options);
  CHECK_MESSAGE(result.outcome == Outcome::kClean,
                "seed " << seed << ", " << options.nodes << " nodes, faults "
                        << options.faults.to_string() << ": " << result.message);
  CHECK(result.figures.puts > 0);
  CHECK(result.figures.gets_found > 0);
}

TEST_CASE("simulation: the same seed gives the same trace, whatever ran before in the process") {
  const SimulationResult first = simulate(42, short_run(3));
  const SimulationResult other = simulate(43, short_run(3));
  const SimulationResult again = simulate(42, short_run(3));
  CHECK(first.trace_hash == again.trace_hash);
  CHECK(first.figures.events == again.figures.events);
  CHECK(first.trace_hash != other.trace_hash);
}

TEST_CASE("simulation: twenty seeds with all faults are clean, at three and at five daemons") {
  for (const size_t nodes : {3, 5}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) check_clean(seed, short_run(nodes));
  }
}

TEST_CASE("simulation: each fault alone strikes, and is survived") {
  for (uint32_t kind = 0; kind < kFaultKinds; ++kind) {
    SimulationOptions options = short_run(3);
    options.faults = FaultSet::none();
    options.faults.set(static_cast<FaultKind>(kind));
    for (uint64_t seed = 1; seed <= 2; ++seed) check_clean(seed, options);
  }
}

TEST_CASE("simulation: without faults every request is served") {
  SimulationOptions options = short_run(3);
  options.faults = FaultSet::none();
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const SimulationResult result = simulate(seed, options);
    CHECK_MESSAGE(result.outcome == Outcome::kClean, result.message);
    CHECK(result.figures.unavailable == 0);
    CHECK(result.figures.timeouts == 0);
    CHECK(result.figures.errors == 0);
    CHECK(result.figures.crashes == 0);
  }
}

// How many of some seeds come out wrong.
int wrong_runs(PlantedBug bug, int seeds, FaultSet faults) {
  SimulationOptions options = short_run(3);
  options.bug = bug;
  options.faults = faults;
  int wrong = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    if (simulate(static_cast<uint64_t>(seed), options).outcome == Outcome::kWrong) ++wrong;
  }
  return wrong;
}

TEST_CASE("planted bug: a disk that acknowledges before its sync is found out by crashes") {
  FaultSet crashes = FaultSet::none();
  crashes.set(FaultKind::kCrash);
  CHECK(wrong_runs(PlantedBug::kNone, 10, crashes) == 0);
  CHECK(wrong_runs(PlantedBug::kAcknowledgeBeforeSync, 10, crashes) > 0);
}

TEST_CASE("planted bug: acknowledgements that no replica gave are found out") {
  CHECK(wrong_runs(PlantedBug::kForgeAcknowledgement, 10, FaultSet::none()) > 0);
}

TEST_CASE("planted bug: replicas that deny what they hold are found out") {
  CHECK(wrong_runs(PlantedBug::kForgeAbsence, 10, FaultSet::none()) > 0);
}

}  // namespace
}  // namespace torc::sim
