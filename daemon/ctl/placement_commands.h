// `torc placement compare` and `torc placement check`: the commands that need no cluster. Each
// prints its result on standard output, or says what is wrong and whether the person or the table
// is at fault. Called by main() only.
#pragma once

#include <expected>
#include <string>

#include "daemon/ctl/placement_scenario.h"

namespace torc::ctl {

struct PlacementFailure {
  std::string words;
  bool is_usage = false;  // bad flags or a file that cannot be read
};
using PlacementResult = std::expected<void, PlacementFailure>;

struct ComparisonOutput {
  bool json = false;
  std::string svg_file;    // empty: no picture
  std::string table_file;  // empty: the table after the change is not saved
};

PlacementResult compare_placement(const PlacementFlags& flags, const ComparisonOutput& output);

// The table in the file, or on standard input for "-".
PlacementResult check_placement(const std::string& file, bool json);

}  // namespace torc::ctl
