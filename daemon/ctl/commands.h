// The commands of the torc tool. Each sends what it needs through the client, prints its result on
// standard output and returns nothing, or returns the words for standard error. Called by main()
// only.
#pragma once

#include <expected>
#include <string>

#include "daemon/ctl/client.h"

namespace torc::ctl {

// Empty on success; the error is what the cluster, or the tool, has to say.
using Outcome = std::expected<void, std::string>;

// cluster_commands.cc: over TORC.STATUS. With `json` the same facts as JSON.
Outcome status(Client& client, bool json);
Outcome members(Client& client, bool json);
Outcome ring(Client& client, bool json);

// key_commands.cc
Outcome owners(Client& client, const std::string& key, bool json);
// Without `json` the value's bytes as they are, with a line end added on a terminal only.
Outcome get(Client& client, const std::string& key, bool json);
// The value "-" stands for what standard input holds.
Outcome put(Client& client, const std::string& key, const std::string& value, bool json);
Outcome del(Client& client, const std::string& key, bool json);

}  // namespace torc::ctl
