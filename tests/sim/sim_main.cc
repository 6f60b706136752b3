// torc_sim: runs seeds of the simulator. Prints the seed first and the trace hash last; exits with
// 0 clean, 10 crash, 11 stuck, 12 wrong, of the first seed that failed.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "tests/sim/seed_runner.h"
#include "tests/sim/simulation.h"

namespace {

using torc::sim::FaultSet;
using torc::sim::Outcome;
using torc::sim::RangeResult;
using torc::sim::SeedFailure;
using torc::sim::SimulationOptions;
using torc::sim::SimulationResult;

constexpr int kUsage = 2;
constexpr size_t kFailuresShown = 10;

struct Flags {
  uint64_t seed = 1;
  std::string seeds;
  size_t nodes = 3;
  std::string faults = "all";
  double minutes = 0.5;
  unsigned jobs = 2;
  bool verbose = false;
  bool no_fork = false;
};

std::optional<uint64_t> parse_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string command_line(const Flags& flags, uint64_t seed) {
  return "build/torc_sim --seed " + std::to_string(seed) + " --nodes " +
         std::to_string(flags.nodes) + " --faults " + flags.faults + " --minutes " +
         CLI::detail::to_string(flags.minutes);
}

int run_one(uint64_t seed, const SimulationOptions& options) {
  alarm(options.verbose ? 0 : torc::sim::SeedRunner::kSeedSecondsMax);
  const SimulationResult result = torc::sim::simulate(seed, options);
  std::printf("%s\n", result.figures.to_string().c_str());
  std::printf("%s%s%s\n", torc::sim::to_string(result.outcome), result.message.empty() ? "" : ": ",
              result.message.c_str());
  std::printf("trace %016" PRIx64 "\n", result.trace_hash);
  return static_cast<int>(result.outcome);
}

// In a child, so that even a seed that kills its process ends with an exit code of ours.
int run_seed(const Flags& flags, const SimulationOptions& options) {
  std::printf("seed %" PRIu64 "\n", flags.seed);
  if (flags.no_fork) return run_one(flags.seed, options);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) {
    std::perror("torc_sim: fork");
    return 1;
  }
  if (child == 0) {
    const int code = run_one(flags.seed, options);
    std::fflush(nullptr);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const int code = torc::sim::exit_code_of(status);
  if (!WIFEXITED(status)) {
    std::printf("%s: the process died with signal %d\n",
                torc::sim::to_string(static_cast<Outcome>(code)), WTERMSIG(status));
  }
  return code;
}

int run_range(const Flags& flags, const SimulationOptions& options, uint64_t first, uint64_t last) {
  const uint64_t total = last - first + 1;
  std::printf("seeds %" PRIu64 "..%" PRIu64 ", %zu nodes, faults %s\n", first, last, flags.nodes,
              options.faults.to_string().c_str());
  std::fflush(stdout);
  const auto begin = std::chrono::steady_clock::now();
  uint64_t told = 0;
  const auto progress = [&](const RangeResult& so_far) {
    if (so_far.runs * 10 / total == told) return;
    told = so_far.runs * 10 / total;
    std::printf("%" PRIu64 " of %" PRIu64 ", %zu failed\n", so_far.runs, total,
                so_far.failures.size());
    std::fflush(stdout);
  };
  const RangeResult result = torc::sim::SeedRunner(options, flags.jobs).run(first, last, progress);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s\n", result.figures.to_string().c_str());
  for (size_t i = 0; i < result.failures.size() && i < kFailuresShown; ++i) {
    const SeedFailure& failure = result.failures[i];
    std::printf("seed %" PRIu64 " %s: %s\n", failure.seed, torc::sim::to_string(failure.outcome),
                failure.message.c_str());
  }
  std::printf("%" PRIu64 " seeds in %.1f s, %zu failed\n", result.runs, took.count(),
              result.failures.size());
  if (!result.failures.empty()) {
    std::printf("first failure: %s\n", command_line(flags, result.failures[0].seed).c_str());
  }
  std::printf("trace %016" PRIx64 "\n", result.trace_hash);
  return result.failures.empty() ? 0 : static_cast<int>(result.failures[0].outcome);
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Runs whole torc clusters in virtual time, each from one seed.");
  auto* seed = app.add_option("--seed", flags.seed, "run this seed (default 1)");
  app.add_option("--seeds", flags.seeds, "run the seeds A..B")->excludes(seed);
  app.add_option("--nodes", flags.nodes, "daemons in the cluster (default 3)")
      ->check(CLI::Range(1, 50));
  app.add_option("--faults", flags.faults, "all, none, or names joined by commas (default all)");
  app.add_option("--minutes", flags.minutes, "simulated minutes under load (default 0.5)")
      ->check(CLI::Range(0.01, 100000.0));
  app.add_option("--jobs", flags.jobs, "processes for a range (default 2)")
      ->check(CLI::Range(1, 256));
  app.add_flag("--verbose", flags.verbose, "tell the whole story on stderr");
  app.add_flag("--no-fork", flags.no_fork, "run a single seed in this process, for a debugger");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }

  const auto faults = FaultSet::parse(flags.faults);
  if (!faults) {
    std::fprintf(stderr, "torc_sim: %s\n", faults.error().c_str());
    return kUsage;
  }
  SimulationOptions options;
  options.nodes = flags.nodes;
  options.faults = *faults;
  options.time = torc::Duration(static_cast<int64_t>(flags.minutes * 60e6));
  options.verbose = flags.verbose;
  if (flags.seeds.empty()) return run_seed(flags, options);

  const size_t dots = flags.seeds.find("..");
  const auto first = parse_number(std::string_view(flags.seeds).substr(0, dots));
  const auto last = dots == std::string::npos
                        ? std::nullopt
                        : parse_number(std::string_view(flags.seeds).substr(dots + 2));
  if (!first || !last || *first > *last || *last == UINT64_MAX) {
    std::fprintf(stderr, "torc_sim: --seeds wants A..B with A <= B, not '%s'\n",
                 flags.seeds.c_str());
    return kUsage;
  }
  return run_range(flags, options, *first, *last);
}
