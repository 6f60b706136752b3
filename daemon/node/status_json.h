// What a daemon tells of itself and its cluster in text: the JSON of `torc status --json` and the
// answer to INFO. Pure functions of the Node's state and the members' replies.
#pragma once

#include <cstdint>
#include <string>

#include "daemon/node/context.h"
#include "daemon/node/status_operation.h"

namespace torc::node {

// REQUIRES: the view is set.
std::string status_json(const NodeContext& context, const StatusOperation::Replies& replies);

// In the format of Redis's INFO, whose fields clients look at; works before this daemon is a
// member.
std::string info_text(const NodeContext& context, const NodeMetrics& metrics, Instant started);

}  // namespace torc::node
