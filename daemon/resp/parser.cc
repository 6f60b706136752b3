#include "daemon/resp/parser.h"

#include <algorithm>
#include <charconv>

#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

// "*" or "$", up to nineteen digits, a sign, CR LF: nothing longer can be a number.
constexpr size_t kNumberLineBytesMax = 32;
// A request with more arguments than this gives its table back afterwards.
constexpr size_t kSpansKept = 1024;
constexpr size_t kUnquotedBytesKept = 4096;

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Appends what stands between double quotes, from line[i] on; returns the index behind the closing
// quote.
std::optional<size_t> take_double_quoted(std::string_view line, size_t i, std::string& out) {
  while (i < line.size()) {
    const char c = line[i];
    if (c == '"') return i + 1;
    if (c == '\\' && i + 3 < line.size() && line[i + 1] == 'x' && hex_digit(line[i + 2]) >= 0 &&
        hex_digit(line[i + 3]) >= 0) {
      out.push_back(static_cast<char>(hex_digit(line[i + 2]) * 16 + hex_digit(line[i + 3])));
      i += 4;
    } else if (c == '\\' && i + 1 < line.size()) {
      out.push_back(unescaped(line[i + 1]));
      i += 2;
    } else {
      out.push_back(c);
      ++i;
    }
  }
  return std::nullopt;
}

// The same for single quotes, in which only \' is special.
std::optional<size_t> take_single_quoted(std::string_view line, size_t i, std::string& out) {
  while (i < line.size()) {
    if (line[i] == '\'') return i + 1;
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '\'') ++i;
    out.push_back(line[i]);
    ++i;
  }
  return std::nullopt;
}

}  // namespace

Parser::Parser(const SessionLimits& limits)
    : inline_bytes_max_(limits.inline_bytes_max),
      arguments_max_(limits.arguments_max),
      command_bytes_max_(limits.command_bytes_max) {}

Parser::Outcome Parser::parse(std::string_view bytes) {
  if (state_ == State::kStart) {
    if (bytes.empty()) return Outcome::kMore;
    state_ = bytes.front() == '*' ? State::kCount : State::kInline;
  }
  if (state_ == State::kInline) return parse_inline(bytes);
  if (state_ == State::kCount) {
    long long count = 0;
    const Outcome outcome = parse_number(bytes, "multibulk", count);
    if (outcome != Outcome::kCommand) return outcome;
    if (count < 0 || static_cast<unsigned long long>(count) > arguments_max_) {
      return fail("invalid multibulk length");
    }
    count_ = static_cast<size_t>(count);
    state_ = State::kBulks;
  }
  return parse_bulks(bytes);
}

Parser::Outcome Parser::parse_bulks(std::string_view bytes) {
  while (spans_.size() < count_) {
    if (!bulk_) {
      if (position_ == bytes.size()) return Outcome::kMore;
      if (bytes[position_] != '$') {
        return fail("expected '$', got '" + escaped(bytes.substr(position_, 1), 4) + "'");
      }
      long long size = 0;
      const Outcome outcome = parse_number(bytes, "bulk", size);
      if (outcome != Outcome::kCommand) return outcome;
      if (size < 0 ||
          static_cast<unsigned long long>(size) > command_bytes_max_ - declared_bytes_) {
        return fail("invalid bulk length");
      }
      bulk_ = static_cast<size_t>(size);
      declared_bytes_ += *bulk_;
    }
    if (bytes.size() - position_ < *bulk_ + 2) return Outcome::kMore;
    if (bytes[position_ + *bulk_] != '\r' || bytes[position_ + *bulk_ + 1] != '\n') {
      return fail("expected CRLF behind a bulk of the declared length");
    }
    spans_.push_back({position_, *bulk_});
    position_ += *bulk_ + 2;
    bulk_.reset();
  }
  return Outcome::kCommand;
}

Parser::Outcome Parser::parse_number(std::string_view bytes, std::string_view noun,
                                     long long& number) {
  const std::string_view window = bytes.substr(position_, kNumberLineBytesMax);
  const size_t end = window.find('\n');
  if (end == std::string_view::npos) {
    if (window.size() < kNumberLineBytesMax) return Outcome::kMore;
    return fail("too big " + std::string(noun) + " count string");
  }
  // Between the mark and CR LF nothing but the number.
  const char* first = window.data() + 1;
  const char* last = window.data() + end - 1;
  const bool framed = end >= 3 && *last == '\r';
  if (!framed) return fail("invalid " + std::string(noun) + " length");
  const auto [stop, error] = std::from_chars(first, last, number);
  if (error != std::errc() || stop != last) {
    return fail("invalid " + std::string(noun) + " length");
  }
  position_ += end + 1;
  return Outcome::kCommand;
}

Parser::Outcome Parser::parse_inline(std::string_view bytes) {
  const size_t end = bytes.find('\n', scanned_);
  // The same verdict for a long line whether or not its end has arrived.
  if (std::min(end, bytes.size()) > inline_bytes_max_) return fail("too big inline request");
  if (end == std::string_view::npos) {
    scanned_ = bytes.size();
    return Outcome::kMore;
  }
  std::string_view line = bytes.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!split_line(line)) return fail("unbalanced quotes in request");
  if (!spans_.empty()) {
    // A web page can make a browser send these here; nothing in their body may run as a command.
    const std::string_view name = arguments(bytes)[0];
    if (equals_word(name, "POST") || equals_word(name, "HOST:")) return fail("this is not HTTP");
  }
  position_ = end + 1;
  return Outcome::kCommand;
}

bool Parser::split_line(std::string_view line) {
  size_t i = 0;
  while (true) {
    while (i < line.size() && is_space(line[i])) ++i;
    if (i == line.size()) return true;
    const size_t begin = unquoted_.size();
    while (i < line.size() && !is_space(line[i])) {
      if (line[i] != '"' && line[i] != '\'') {
        unquoted_.push_back(line[i++]);
        continue;
      }
      const std::optional<size_t> behind = line[i] == '"'
                                               ? take_double_quoted(line, i + 1, unquoted_)
                                               : take_single_quoted(line, i + 1, unquoted_);
      if (!behind) return false;
      i = *behind;
      // A closing quote ends the argument.
      if (i < line.size() && !is_space(line[i])) return false;
    }
    spans_.push_back({begin, unquoted_.size() - begin});
  }
}

Arguments Parser::arguments(std::string_view bytes) const {
  return Arguments(state_ == State::kInline ? std::string_view(unquoted_) : bytes, spans_);
}

Parser::Outcome Parser::fail(std::string_view why) {
  error_ = why;
  return Outcome::kError;
}

void Parser::reset() {
  state_ = State::kStart;
  position_ = scanned_ = count_ = declared_bytes_ = 0;
  bulk_.reset();
  spans_.clear();
  unquoted_.clear();
  if (spans_.capacity() > kSpansKept) std::vector<Arguments::Span>().swap(spans_);
  if (unquoted_.capacity() > kUnquotedBytesKept) std::string().swap(unquoted_);
}

}  // namespace torc::resp
