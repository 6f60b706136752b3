#include "tests/sim/seed_runner.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace torc::sim {

int exit_code_of(int wait_status) {
  if (WIFEXITED(wait_status)) return WEXITSTATUS(wait_status);
  // The alarm clock is ours; every other signal is a crash.
  return static_cast<int>(WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM
                              ? Outcome::kStuck
                              : Outcome::kCrash);
}

void SeedRunner::work(int out, uint64_t seed, uint64_t last) const {
  static_assert(sizeof(Report) <= 4096, "a pipe writes up to PIPE_BUF bytes whole");
  for (; seed <= last; seed += jobs_) {
    Report report{};
    report.seed = seed;
    report.begins = true;
    if (write(out, &report, sizeof(report)) != sizeof(report)) return;
    alarm(kSeedSecondsMax);
    const SimulationResult result = simulate(seed, options_);
    alarm(0);
    report.begins = false;
    report.outcome = result.outcome;
    report.trace_hash = result.trace_hash;
    report.figures = result.figures;
    std::snprintf(report.message, sizeof(report.message), "%s", result.message.c_str());
    if (write(out, &report, sizeof(report)) != sizeof(report)) return;
    if (last - seed < jobs_) return;
  }
}

void SeedRunner::spawn(Child& child, uint64_t last) {
  child.busy = child.next <= last;
  if (!child.busy) return;
  int ends[2];
  if (pipe(ends) != 0) {
    std::perror("torc_sim: pipe");
    std::exit(1);
  }
  std::fflush(nullptr);
  child.pid = fork();
  if (child.pid < 0) {
    std::perror("torc_sim: fork");
    std::exit(1);
  }
  if (child.pid == 0) {
    close(ends[0]);
    // A death is the parent's to report, not a test framework's.
    for (const int death : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) std::signal(death, SIG_DFL);
    work(ends[1], child.next, last);
    std::fflush(nullptr);
    _exit(0);
  }
  close(ends[1]);
  child.pipe = ends[0];
}

bool SeedRunner::take(Child& child, RangeResult& result) const {
  Report report;
  size_t have = 0;
  while (have < sizeof(report)) {
    const ssize_t got =
        read(child.pipe, reinterpret_cast<char*>(&report) + have, sizeof(report) - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    have += static_cast<size_t>(got);
  }
  child.running = report.seed;
  if (report.begins) {
    child.next = report.seed + jobs_;
    return true;
  }
  child.running = UINT64_MAX;
  ++result.runs;
  result.trace_hash += report.trace_hash;
  result.figures.add(report.figures);
  if (report.outcome != Outcome::kClean) {
    result.failures.push_back({report.seed, report.outcome, report.message});
  }
  return true;
}

void SeedRunner::bury(Child& child, uint64_t last, RangeResult& result) {
  close(child.pipe);
  int status = 0;
  waitpid(child.pid, &status, 0);
  child.busy = false;
  if (child.running == UINT64_MAX) return;
  ++result.runs;
  const auto outcome = static_cast<Outcome>(exit_code_of(status));
  result.failures.push_back({child.running, outcome == Outcome::kStuck ? outcome : Outcome::kCrash,
                             outcome == Outcome::kStuck
                                 ? "not done after " + std::to_string(kSeedSecondsMax) + " s"
                                 : "the process died, its last words are above"});
  child.running = UINT64_MAX;
  spawn(child, last);
}

RangeResult SeedRunner::run(uint64_t first, uint64_t last,
                            const std::function<void(const RangeResult&)>& progress) {
  assert(jobs_ > 0 && first <= last);
  RangeResult result;
  std::vector<Child> children(jobs_);
  for (unsigned i = 0; i < jobs_; ++i) {
    children[i].next = first + i;
    children[i].running = UINT64_MAX;
    spawn(children[i], last);
  }
  while (true) {
    std::vector<pollfd> ready;
    std::vector<Child*> owners;
    for (Child& child : children) {
      if (!child.busy) continue;
      ready.push_back({child.pipe, POLLIN, 0});
      owners.push_back(&child);
    }
    if (ready.empty()) break;
    if (poll(ready.data(), ready.size(), -1) < 0) continue;
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents != 0 && !take(*owners[i], result)) bury(*owners[i], last, result);
    }
    progress(result);
  }
  std::ranges::sort(result.failures, {}, &SeedFailure::seed);
  return result;
}

}  // namespace torc::sim
