// ReplyWriter: appends replies to a buffer in RESP2 or RESP3. Types that RESP2 lacks are written as
// the ones its clients expect there (a map as a flat array, a double as a bulk), and no error or
// simple string can break out of its line. Used by the command handlers and by whatever renders
// answers of the Node.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/node/request.h"

namespace torc::resp {

enum class Protocol : uint8_t { kResp2 = 2, kResp3 = 3 };

class ReplyWriter {
 public:
  // `out` must outlive the writer.
  ReplyWriter(std::string& out, Protocol protocol) : out_(out), protocol_(protocol) {}

  void simple(std::string_view text);
  // `text` begins with the code's word.
  void error(std::string_view text);
  void error(const node::ErrorReply& error);
  void integer(int64_t value);
  void bulk(std::string_view text);
  void null();
  void null_array();
  // Followed by `size` replies.
  void array(size_t size);
  // Followed by `size` pairs of replies.
  void map(size_t size);
  void floating(double value);
  void boolean(bool value);
  // Plain text for people.
  void verbatim(std::string_view text);

 private:
  void header(char mark, int64_t number);
  void line(std::string_view text);

  std::string& out_;
  Protocol protocol_;
};

}  // namespace torc::resp
