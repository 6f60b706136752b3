// Simulation: one whole run from one seed: a cluster forms, clients work while things break,
// everything heals, and what was promised is checked. The same seed and options give the same trace
// hash, always. A run is a function; any number may follow each other in one process.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/cluster.h"
#include "tests/sim/faults.h"
#include "tests/sim/verdict.h"

namespace torc::sim {

struct SimulationOptions {
  size_t nodes = 3;
  FaultSet faults = FaultSet::all();
  Duration time = std::chrono::seconds(30);  // of clients at work while faults strike
  PlantedBug bug = PlantedBug::kNone;
  bool verbose = false;
};

// Sums of what happened, so that one sees that something did.
struct SimulationFigures {
  uint64_t puts = 0;
  uint64_t deletes = 0;
  uint64_t gets_found = 0;
  uint64_t gets_absent = 0;
  uint64_t unavailable = 0;
  uint64_t timeouts = 0;
  uint64_t errors = 0;
  uint64_t unknown = 0;
  uint64_t crashes = 0;
  uint64_t stops = 0;
  uint64_t mass_crashes = 0;
  uint64_t partitions = 0;
  uint64_t clogs = 0;
  uint64_t pauses = 0;
  uint64_t clock_jumps = 0;
  uint64_t slow_disks = 0;
  uint64_t messages = 0;
  uint64_t messages_lost = 0;
  uint64_t messages_doubled = 0;
  uint64_t streams_broken = 0;
  uint64_t batches_lost = 0;
  uint64_t events = 0;
  uint64_t simulated_ms = 0;

  void add(const SimulationFigures& other);
  // Several lines for a person.
  std::string to_string() const;
};

struct SimulationResult {
  Outcome outcome = Outcome::kClean;
  std::string message;  // why it is not clean
  uint64_t trace_hash = 0;
  SimulationFigures figures;
};

SimulationResult simulate(uint64_t seed, const SimulationOptions& options);

}  // namespace torc::sim
