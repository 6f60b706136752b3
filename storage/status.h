// Status and Result: how every fallible call of the storage folder, and of the daemon above it,
// reports an expected failure. A Status always carries words for a person; impossibilities are
// asserted instead. Plain values.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace torc {

enum class StatusCode {
  kOk,
  kCorruption,  // bytes on disk or on the wire are not what was written
  kIoError,     // the disk refused
  kDiskFull,
  kInUse,  // another process holds the data directory
  kInvalidArgument,
  kUnsupported,  // a format newer than this program
  kBusy,         // a queue is full; nothing was done
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

template <typename T>
using Result = std::expected<T, Status>;

}  // namespace torc
