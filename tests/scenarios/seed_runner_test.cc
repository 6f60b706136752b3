// Ranges of seeds in forked children: the sums do not depend on their number, and a death is one
// bad seed.
#include "tests/sim/seed_runner.h"

#include <doctest/doctest.h>

#include <csignal>

namespace torc::sim {
namespace {

SimulationOptions brief(PlantedBug bug) {
  SimulationOptions options;
  options.time = std::chrono::seconds(2);
  options.bug = bug;
  return options;
}

TEST_CASE("seed runner: one child or three come to the same sums and the same trace") {
  const auto run = [](unsigned jobs) {
    uint64_t told = 0;
    const RangeResult result =
        SeedRunner(brief(PlantedBug::kNone), jobs).run(1, 8, [&](const RangeResult&) { ++told; });
    CHECK(told > 0);
    CHECK(result.runs == 8);
    CHECK(result.failures.empty());
    return result;
  };
  const RangeResult one = run(1);
  const RangeResult three = run(3);
  CHECK(one.trace_hash == three.trace_hash);
  CHECK(one.figures.events == three.figures.events);
}

TEST_CASE("seed runner: a seed that kills its process is a crash, and the others still run") {
  const RangeResult result =
      SeedRunner(brief(PlantedBug::kAbort), 2).run(5, 9, [](const RangeResult&) {});
  CHECK(result.runs == 5);
  REQUIRE(result.failures.size() == 5);
  for (uint64_t i = 0; i < 5; ++i) {
    CHECK(result.failures[i].seed == 5 + i);
    CHECK(result.failures[i].outcome == Outcome::kCrash);
  }
}

TEST_CASE("seed runner: how a process ends is one of the exit codes people know") {
  const auto exited = [](int code) { return code << 8; };
  CHECK(exit_code_of(exited(0)) == 0);
  CHECK(exit_code_of(exited(12)) == 12);
  CHECK(exit_code_of(SIGSEGV) == 10);
  CHECK(exit_code_of(SIGABRT) == 10);
  CHECK(exit_code_of(SIGALRM) == 11);
}

}  // namespace
}  // namespace torc::sim
