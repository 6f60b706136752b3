// Plan: what a command asks of its Session: an answer that is known at once, one request, a read
// then a write, or one request for each of its keys. A handler only fills it in; the Session
// carries it out when there is room. A plain value, reused from command to command.
#pragma once

#include <cstddef>
#include <string>

#include "daemon/node/request.h"
#include "daemon/resp/pipeline.h"
#include "daemon/resp/rendering.h"

namespace torc::resp {

struct Plan {
  enum class Kind : uint8_t {
    kAnswer,
    kAnswerAndClose,
    kRequest,
    kReadThenWrite,
    kEachKey,
  };
  Kind kind = Kind::kAnswer;
  std::string answer;  // kAnswer, kAnswerAndClose: as it will be sent

  Rendering rendering = Rendering::kText;  // the others: of the reply, or of each part
  node::Request request;                   // kRequest
  Pipeline::ReadThenWrite read_then_write;

  // kEachKey: arguments 1, 1 + stride ... are keys.
  Rendering end = Rendering::kText;
  size_t stride = 1;
  enum class Part : uint8_t { kGet, kSet, kDelete } part = Part::kGet;
};

}  // namespace torc::resp
