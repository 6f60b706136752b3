#include "daemon/ctl/placement_report.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "daemon/ctl/table.h"

namespace torc::ctl {
namespace {

using enum Table::Align;

// More members than this are too many for a table of shares.
constexpr size_t kShareRowsMax = 24;

std::string decimals(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string heading(const PlacementScenario& scenario) {
  std::string text = std::to_string(scenario.before.size()) + " members";
  if (!scenario.change.empty()) text += ", then " + scenario.change;
  text += "\n";
  text += scenario.keys ? std::to_string(*scenario.keys) + " keys by " +
                              std::string(placement::name_of(scenario.hash))
                        : std::to_string(scenario.partitions) + " partitions";
  text += " x " + std::to_string(scenario.replication) +
          (scenario.replication == 1 ? " copy" : " copies");
  if (!scenario.change.empty()) {
    text += "; what must move: " + decimals(minimum_moved_pct(scenario), 2) + " %";
  }
  return text + "\n\n";
}

std::string share_table(std::span<const PolicyOutcome> outcomes, const Everyone& everyone) {
  std::vector<Table::Column> columns = {{"SHARE %"}};
  for (const PolicyOutcome& outcome : outcomes) columns.push_back({outcome.policy, kRight});
  Table table(std::move(columns));
  for (size_t m = 0; m < everyone.names.size(); ++m) {
    if (!everyone.is[m]) continue;
    std::vector<std::string> row = {everyone.names[m]};
    for (const PolicyOutcome& outcome : outcomes) {
      row.push_back(decimals(outcome.shares_pct[m], 1));
    }
    table.add(std::move(row));
  }
  return table.to_string();
}

}  // namespace

std::string comparison_text(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes) {
  Table table({{"POLICY"},
               {"MOVED %", kRight},
               {"x MINIMUM", kRight},
               {"MAX/MEAN", kRight},
               {"SD %", kRight},
               {"RACK BREACHES", kRight},
               {"SHORTFALL", kRight},
               {"LOOKUP ns", kRight},
               {"REBUILD ms", kRight}});
  const bool changes = !scenario.change.empty();
  for (const PolicyOutcome& outcome : outcomes) {
    const bool has_ratio = changes && outcome.moved_over_minimum;
    table.add({outcome.policy, changes ? decimals(outcome.moved_pct, 1) : "-",
               has_ratio ? decimals(*outcome.moved_over_minimum, 3) : "-",
               decimals(outcome.max_over_mean, 3), decimals(outcome.sd_pct, 2),
               std::to_string(outcome.rack_violations), std::to_string(outcome.shortfall),
               decimals(outcome.lookup_ns, 1), decimals(outcome.rebuild_ms, 2)});
  }
  std::string text = heading(scenario) + table.to_string();
  if (scenario.after.size() <= kShareRowsMax) {
    text += "\n" + share_table(outcomes, everyone_in(scenario));
  } else {
    text += "\n(the shares of " + std::to_string(scenario.after.size()) + " members: --json)\n";
  }
  return text;
}

std::string comparison_json(const PlacementScenario& scenario,
                            std::span<const PolicyOutcome> outcomes) {
  using Json = nlohmann::ordered_json;
  const Everyone everyone = everyone_in(scenario);
  Json list = Json::array();
  for (const PolicyOutcome& outcome : outcomes) {
    Json shares = Json::object();
    for (size_t m = 0; m < everyone.names.size(); ++m) {
      if (everyone.is[m]) shares[everyone.names[m]] = outcome.shares_pct[m];
    }
    Json ratio;
    if (outcome.moved_over_minimum) ratio = *outcome.moved_over_minimum;
    list.push_back({{"policy", outcome.policy},
                    {"moved_pct", outcome.moved_pct},
                    {"moved_over_minimum", std::move(ratio)},
                    {"max_over_mean", outcome.max_over_mean},
                    {"sd_pct", outcome.sd_pct},
                    {"shares_pct", std::move(shares)},
                    {"rack_violations", outcome.rack_violations},
                    {"shortfall", outcome.shortfall},
                    {"lookup_ns", outcome.lookup_ns},
                    {"rebuild_ms", outcome.rebuild_ms}});
  }
  return list.dump(2) + "\n";
}

}  // namespace torc::ctl
