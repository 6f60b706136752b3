// Connection: what a client has set for its connection: protocol, name, consistency levels. Changed
// only by command handlers, when a command arrives; answers under way keep the protocol of their
// command. Owned by a Session.
#pragma once

#include <string>

#include "daemon/node/request.h"
#include "daemon/resp/reply.h"
#include "daemon/resp/session.h"

namespace torc::resp {

struct Connection {
  SessionInfo info;
  Protocol protocol = Protocol::kResp2;
  std::string name;
  std::string library;
  std::string library_version;
  node::Level read_level;
  node::Level write_level;
};

}  // namespace torc::resp
