// Parser: finds one request at a time in received bytes (an array of bulk strings, or a line typed
// by hand) without copying its arguments. It resumes where it stopped, so every byte is looked at
// once however the bytes arrive, and declared lengths are checked before anything is kept. Owned by
// a Session.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/resp/session.h"

namespace torc::resp {

// The arguments of one request, the command's name first: views into the bytes they were found in.
class Arguments {
 public:
  struct Span {
    size_t offset;
    size_t size;
  };
  Arguments(std::string_view bytes, std::span<const Span> spans) : bytes_(bytes), spans_(spans) {}

  size_t size() const { return spans_.size(); }
  // REQUIRES: i < size()
  std::string_view operator[](size_t i) const {
    return bytes_.substr(spans_[i].offset, spans_[i].size);
  }

 private:
  std::string_view bytes_;
  std::span<const Span> spans_;
};

class Parser {
 public:
  enum class Outcome {
    kCommand,  // a whole request is there; it may have no arguments (an empty line)
    kMore,     // more bytes are needed
    kError,    // these bytes are no request, and nothing behind them can be trusted
  };

  explicit Parser(const SessionLimits& limits);

  // `bytes` begin with the request; a call after kMore must show the same bytes again and those
  // that followed.
  Outcome parse(std::string_view bytes);

  // After kCommand, until reset(): the arguments, given the same bytes (which may have moved in
  // memory).
  Arguments arguments(std::string_view bytes) const;
  // After kCommand: how many bytes the request took.
  size_t consumed() const { return position_; }
  // After kError: what was wrong, in words without the word Protocol error.
  const std::string& error() const { return error_; }

  // Forgets the request: the next parse() begins with another one.
  void reset();

 private:
  enum class State { kStart, kInline, kCount, kBulks };

  Outcome fail(std::string_view why);
  Outcome parse_inline(std::string_view bytes);
  Outcome parse_bulks(std::string_view bytes);
  // Reads "<mark>NUMBER\r\n" at position_.
  Outcome parse_number(std::string_view bytes, std::string_view noun, long long& number);
  bool split_line(std::string_view line);

  size_t inline_bytes_max_;
  size_t arguments_max_;
  size_t command_bytes_max_;

  State state_ = State::kStart;
  size_t position_ = 0;         // everything before it is understood
  size_t scanned_ = 0;          // an inline request has no line end before it
  size_t count_ = 0;            // declared arguments
  size_t declared_bytes_ = 0;   // declared so far, over all arguments
  std::optional<size_t> bulk_;  // declared size of the argument that begins at position_
  std::vector<Arguments::Span> spans_;
  std::string unquoted_;  // the arguments of an inline request
  std::string error_;
};

}  // namespace torc::resp
