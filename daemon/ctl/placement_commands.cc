#include "daemon/ctl/placement_commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/ctl/placement_comparison.h"
#include "daemon/ctl/placement_report.h"
#include "daemon/ctl/placement_svg.h"
#include "daemon/ctl/placement_table.h"
#include "placement/claim.h"
#include "placement/ring_checker.h"

namespace torc::ctl {
namespace {

// The largest table, with names of full length, is smaller.
constexpr size_t kTableBytesMax = 512u * 1024 * 1024;

std::unexpected<PlacementFailure> usage(std::string words) {
  return std::unexpected(PlacementFailure{std::move(words), true});
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string failure_of(const std::string& file) {
  return file + ": " + std::strerror(errno);
}

std::expected<std::string, std::string> read_file(const std::string& name) {
  File opened(name == "-" ? nullptr : std::fopen(name.c_str(), "rb"));
  if (name != "-" && !opened) return std::unexpected(failure_of(name));
  std::FILE* file = opened ? opened.get() : stdin;
  std::string text;
  char buffer[65536];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file)) {
    text.append(buffer, got);
    if (text.size() > kTableBytesMax) return std::unexpected(name + ": too large for a table");
  }
  if (std::ferror(file)) return std::unexpected(failure_of(name));
  return text;
}

PlacementResult write_file(const std::string& name, std::string_view text) {
  File file(std::fopen(name.c_str(), "wb"));
  if (!file) return usage(failure_of(name));
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    return usage(failure_of(name));
  }
  return {};
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

PlacementResult save_table(const PlacementScenario& scenario, const std::string& file) {
  if (scenario.policies.size() != 1 || !placement::is_policy(scenario.policies.front()) ||
      scenario.keys) {
    return usage("--save: needs one policy that places partitions");
  }
  const std::string& policy = scenario.policies.front();
  const auto before = placement::next_table(nullptr, scenario.before,
                                            {policy, scenario.partitions, scenario.replication, 1});
  if (!before) return usage(before.error());
  const auto after = placement::next_table(&*before, scenario.after,
                                           {policy, scenario.partitions, scenario.replication, 2});
  if (!after) return usage(after.error());
  return write_file(file, table_json(*after, scenario.after, policy));
}

}  // namespace

PlacementResult compare_placement(const PlacementFlags& flags, const ComparisonOutput& output) {
  const auto scenario = read_scenario(flags);
  if (!scenario) return usage(scenario.error());
  if (!output.table_file.empty()) {
    if (auto saved = save_table(*scenario, output.table_file); !saved) return saved;
  }
  std::vector<PolicyOutcome> outcomes;
  for (const std::string& policy : scenario->policies) {
    auto outcome = run_policy(*scenario, policy);
    if (!outcome) return usage(policy + ": " + outcome.error());
    outcomes.push_back(*std::move(outcome));
  }
  if (!output.svg_file.empty()) {
    if (auto drawn = write_file(output.svg_file, draw_comparison(*scenario, outcomes)); !drawn) {
      return drawn;
    }
  }
  print(output.json ? comparison_json(*scenario, outcomes) : comparison_text(*scenario, outcomes));
  return {};
}

PlacementResult check_placement(const std::string& file, bool json) {
  const auto text = read_file(file);
  if (!text) return usage(text.error());
  const auto saved = read_table(*text);
  if (!saved) return usage((file == "-" ? "standard input" : file) + ": " + saved.error());

  std::vector<std::string> violations = saved->violations;
  for (std::string& violation :
       placement::check_table(saved->table, saved->members, saved->expected)) {
    violations.push_back(std::move(violation));
  }
  if (json) {
    const nlohmann::ordered_json answer = {{"ok", violations.empty()}, {"violations", violations}};
    print(answer.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (violations.empty()) {
    print("OK: " + saved->expected.policy + ", " + std::to_string(saved->table.partitions()) +
          " partitions x " + std::to_string(saved->table.replication()) + ", " +
          std::to_string(saved->members.size()) + " members, " +
          std::to_string(saved->table.shortfall()) + " copies short\n");
  } else {
    for (const std::string& violation : violations) print(violation + "\n");
  }
  if (violations.empty()) return {};
  const size_t count = violations.size();
  return std::unexpected(
      PlacementFailure{std::to_string(count) + (count == 1 ? " violation" : " violations"), false});
}

}  // namespace torc::ctl
