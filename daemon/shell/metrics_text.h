// The metrics page: a MetricsSnapshot in the Prometheus text format, every name beginning with
// torc_. Pure.
#pragma once

#include <string>

#include "daemon/shell/status_board.h"

namespace torc::shell {

std::string metrics_text(const MetricsSnapshot& snapshot);

}  // namespace torc::shell
