// Env: the few verbs by which a Node acts on the world. Nothing comes back before the handler that
// called returns: a message, completion or answer is delivered later, as an input of its own.
// Implemented by the shell over libuv and by the simulator over a virtual clock; called only from
// the Node's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "daemon/node/peer.pb.h"
#include "daemon/node/request.h"
#include "membership/address.h"
#include "membership/node_id.h"
#include "storage/request.h"

namespace torc::node {

enum class Channel { kStream, kDatagram };
enum class LogLevel { kDebug, kInfo, kWarning, kError };
// The daemon's exit codes, as people see them.
enum class ExitCode { kStopped = 0, kFailed = 1, kRefused = 3 };

class Env {
 public:
  virtual ~Env() = default;

  // May be lost, doubled or late; a stream keeps order while it lasts.
  virtual void send(const Address& to, Channel channel, const pb::Envelope& message) = 0;
  // Answered by Node::on_storage_done with the same tag.
  virtual void submit(storage::StorageRequest request) = 0;
  virtual void answer(RequestId request, Reply reply) = 0;
  virtual uint64_t random() = 0;

  // From now on frames carry this cluster id, and frames of another cluster are refused.
  virtual void set_cluster(uint64_t cluster_id) = 0;
  virtual void log(LogLevel level, std::string_view text) = 0;
  // The daemon cannot go on; no input may follow.
  virtual void stop(ExitCode code, std::string_view reason) = 0;
};

}  // namespace torc::node
