#include "daemon/resp/reply.h"

#include <array>
#include <charconv>
#include <cmath>

namespace torc::resp {
namespace {

std::string_view error_word(node::ErrorReply::Code code) {
  switch (code) {
    case node::ErrorReply::kError:
      return "ERR";
    case node::ErrorReply::kUnavailable:
      return "UNAVAILABLE";
    case node::ErrorReply::kTimeout:
      return "TIMEOUT";
    case node::ErrorReply::kDiskFull:
      return "DISKFULL";
    case node::ErrorReply::kTooBig:
      return "TOOBIG";
    case node::ErrorReply::kWrongType:
      return "WRONGTYPE";
  }
  return "ERR";
}

}  // namespace

void ReplyWriter::header(char mark, int64_t number) {
  std::array<char, 24> text;
  text[0] = mark;
  char* end = std::to_chars(text.data() + 1, text.data() + text.size() - 2, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out_.append(text.data(), static_cast<size_t>(end - text.data()));
}

void ReplyWriter::line(std::string_view text) {
  for (const char c : text) out_.push_back(c == '\r' || c == '\n' ? ' ' : c);
  out_.append("\r\n");
}

void ReplyWriter::simple(std::string_view text) {
  out_.push_back('+');
  line(text);
}

void ReplyWriter::error(std::string_view text) {
  out_.push_back('-');
  line(text);
}

void ReplyWriter::error(const node::ErrorReply& error) {
  out_.push_back('-');
  out_.append(error_word(error.code));
  out_.push_back(' ');
  line(error.message);
}

void ReplyWriter::integer(int64_t value) {
  header(':', value);
}

void ReplyWriter::bulk(std::string_view text) {
  header('$', static_cast<int64_t>(text.size()));
  out_.append(text);
  out_.append("\r\n");
}

void ReplyWriter::null() {
  out_.append(protocol_ == Protocol::kResp3 ? "_\r\n" : "$-1\r\n");
}

void ReplyWriter::null_array() {
  out_.append(protocol_ == Protocol::kResp3 ? "_\r\n" : "*-1\r\n");
}

void ReplyWriter::array(size_t size) {
  header('*', static_cast<int64_t>(size));
}

void ReplyWriter::map(size_t size) {
  if (protocol_ == Protocol::kResp3) {
    header('%', static_cast<int64_t>(size));
  } else {
    array(2 * size);
  }
}

void ReplyWriter::floating(double value) {
  std::array<char, 32> buffer;
  std::string_view text;
  if (std::isnan(value)) {
    text = "nan";
  } else if (std::isinf(value)) {
    text = value > 0 ? "inf" : "-inf";
  } else {
    const char* end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    text = std::string_view(buffer.data(), static_cast<size_t>(end - buffer.data()));
  }
  if (protocol_ == Protocol::kResp2) return bulk(text);
  out_.push_back(',');
  line(text);
}

void ReplyWriter::boolean(bool value) {
  if (protocol_ == Protocol::kResp2) return integer(value ? 1 : 0);
  out_.append(value ? "#t\r\n" : "#f\r\n");
}

void ReplyWriter::verbatim(std::string_view text) {
  if (protocol_ == Protocol::kResp2) return bulk(text);
  header('=', static_cast<int64_t>(text.size() + 4));
  out_.append("txt:");
  out_.append(text);
  out_.append("\r\n");
}

}  // namespace torc::resp
