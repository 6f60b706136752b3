// Rendering: how the Node's reply to a request becomes bytes for the client, and Gather, which puts
// the replies of a command's single keys together. A reply of the wrong kind is a defect of the
// daemon and asserted; an error is written whatever was expected. Used by the Pipeline, in the
// order of the commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/node/request.h"
#include "daemon/resp/reply.h"

namespace torc::resp {

enum class Rendering : uint8_t {
  kText,      // was written when the command came
  kValue,     // GET: the value or null
  kLength,    // STRLEN
  kType,      // TYPE
  kOk,        // SET
  kExisted,   // TORC.DEL: 1 or 0
  kNumber,    // DBSIZE
  kVerbatim,  // INFO
  kDocument,  // TORC.STATUS
  kOwners,    // TORC.OWNERS
  // Of one key among several: nothing is written yet, Gather keeps it.
  kPartValue,
  kPartFound,
  kPartExisted,
  kPartOk,
  // The end of such a command.
  kEndValues,
  kEndCount,
  kEndOk,
};

inline bool is_part(Rendering r) {
  return r >= Rendering::kPartValue && r <= Rendering::kPartOk;
}
inline bool is_end(Rendering r) {
  return r >= Rendering::kEndValues;
}

// REQUIRES: neither kText, nor a part, nor an end.
void render(Rendering rendering, const node::Reply& reply, ReplyWriter writer);

class Gather {
 public:
  void take(Rendering part, const node::Reply& reply, Protocol protocol);
  // Writes the command's reply (the first error, if there was one) and begins anew.
  void finish(Rendering end, std::string& out, Protocol protocol);

  bool failed() const { return error_.has_value(); }
  size_t bytes() const { return values_.size(); }

 private:
  std::string values_;  // as they will be sent
  size_t parts_ = 0;
  int64_t count_ = 0;
  std::optional<node::ErrorReply> error_;
};

}  // namespace torc::resp
