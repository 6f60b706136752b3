// Request and Reply: what a client may ask of a Node and what it is told, free of any wire format.
// Requests name one key each; commands over many keys are taken apart and put together above
// (resp/session.h). Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "storage/version.h"

namespace torc::node {

// Chosen by the caller; unique among the requests that are running.
using RequestId = uint64_t;

constexpr size_t kKeyBytesMax = 64 * 1024;
constexpr size_t kValueBytesMax = 16 * 1024 * 1024;

// How many replicas must answer: a majority, all, or a number.
struct Level {
  enum Kind : uint8_t { kOne, kQuorum, kAll, kCount };
  Kind kind = kQuorum;
  uint8_t count = 0;  // kCount only
};

struct GetRequest {
  std::string key;
  Level level;
};

struct PutRequest {
  std::string key;
  std::string value;
  bool tombstone = false;  // a deletion; `value` is empty
  // At most one of the two is set, in milliseconds: from the coordinator's now, or since the Unix
  // epoch.
  std::optional<int64_t> expires_in_ms;
  std::optional<int64_t> expires_at_ms;
  Level level;
};

struct OwnersRequest {
  std::string key;
};
struct SizeRequest {};    // DBSIZE
struct StatusRequest {};  // TORC.STATUS
struct InfoRequest {};    // INFO

using Request =
    std::variant<GetRequest, PutRequest, OwnersRequest, SizeRequest, StatusRequest, InfoRequest>;

struct GetReply {
  bool found = false;
  std::string record;         // encoded; holds the value when found, else a tombstone or nothing
  size_t value_offset = 0;    // of the value in `record`
  int64_t expires_at_ms = 0;  // since the Unix epoch; 0 = never

  std::string_view value() const { return std::string_view(record).substr(value_offset); }
};

struct PutReply {
  bool existed = false;        // a live value stood here before
  storage::Version version{};  // under which the write was acknowledged
};

struct OwnersReply {
  struct Owner {
    std::string name;
    std::string id;
    std::string client;
    std::string liveness;
  };
  uint32_t partition = 0;
  std::vector<Owner> owners;
};

struct IntegerReply {
  int64_t value = 0;
};
struct TextReply {
  std::string text;
};

struct ErrorReply {
  enum Code { kError, kUnavailable, kTimeout, kDiskFull, kTooBig, kWrongType };
  Code code = kError;
  std::string message;  // without the code's word
};

using Reply = std::variant<GetReply, PutReply, OwnersReply, IntegerReply, TextReply, ErrorReply>;

}  // namespace torc::node
