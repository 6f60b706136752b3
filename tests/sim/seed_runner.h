// SeedRunner: runs a range of seeds in forked children, so that a seed that kills its process is
// only one bad result, and adds up what they report. Children work on interleaved seeds and send
// one fixed-size report per seed through a pipe. Used by torc_sim only; POSIX.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/sim/simulation.h"

namespace torc::sim {

struct SeedFailure {
  uint64_t seed;
  Outcome outcome;
  std::string message;
};

struct RangeResult {
  uint64_t runs = 0;
  uint64_t trace_hash =
      0;  // the sum over all seeds, so that the order of the children does not matter
  SimulationFigures figures;
  std::vector<SeedFailure> failures;  // by seed
};

class SeedRunner {
 public:
  // Nobody waits longer for one seed; beyond it the seed is stuck.
  static constexpr unsigned kSeedSecondsMax = 120;

  SeedRunner(SimulationOptions options, unsigned jobs) : options_(options), jobs_(jobs) {}

  // Runs first..last; `progress` is called now and then with what is known so far.
  RangeResult run(uint64_t first, uint64_t last,
                  const std::function<void(const RangeResult&)>& progress);

 private:
  struct Report {
    uint64_t seed;
    bool begins;  // the rest counts only when it has ended
    Outcome outcome;
    uint64_t trace_hash;
    SimulationFigures figures;
    char message[512];
  };

  struct Child {
    int pid = -1;
    int pipe = -1;
    uint64_t next;     // the first seed it has not begun
    uint64_t running;  // the seed it last began
    bool busy = false;
  };

  void spawn(Child& child, uint64_t last);
  void work(int out, uint64_t seed, uint64_t last) const;
  // Takes one report; false when the child is gone.
  bool take(Child& child, RangeResult& result) const;
  // The child ended; blames its last seed when that was not its own decision, and starts it again
  // behind it.
  void bury(Child& child, uint64_t last, RangeResult& result);

  SimulationOptions options_;
  unsigned jobs_;
};

// What became of a child that was to run one seed: its exit code, or the outcome its death stands
// for.
int exit_code_of(int wait_status);

}  // namespace torc::sim
