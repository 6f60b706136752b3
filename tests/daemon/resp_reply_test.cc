#include "daemon/resp/reply.h"

#include <doctest/doctest.h>

#include <limits>

#include "daemon/resp/words.h"

namespace torc::resp {
namespace {

template <typename Write>
std::string written(Protocol protocol, Write write) {
  std::string out;
  ReplyWriter writer(out, protocol);
  write(writer);
  return out;
}

template <typename Write>
std::string in_resp2(Write write) {
  return written(Protocol::kResp2, write);
}

template <typename Write>
std::string in_resp3(Write write) {
  return written(Protocol::kResp3, write);
}

}  // namespace

TEST_CASE("reply: what both protocols know looks the same in both") {
  const auto all = [](ReplyWriter& w) {
    w.simple("OK");
    w.error("ERR no");
    w.integer(-7);
    w.bulk("a\r\nb");
    w.array(2);
  };
  CHECK(in_resp2(all) == "+OK\r\n-ERR no\r\n:-7\r\n$4\r\na\r\nb\r\n*2\r\n");
  CHECK(in_resp3(all) == in_resp2(all));
}

TEST_CASE("reply: what only RESP3 knows is written in RESP2 as its clients expect it") {
  const auto null = [](ReplyWriter& w) { w.null(); };
  CHECK(in_resp2(null) == "$-1\r\n");
  CHECK(in_resp3(null) == "_\r\n");
  const auto null_array = [](ReplyWriter& w) { w.null_array(); };
  CHECK(in_resp2(null_array) == "*-1\r\n");
  CHECK(in_resp3(null_array) == "_\r\n");
  const auto map = [](ReplyWriter& w) { w.map(3); };
  CHECK(in_resp2(map) == "*6\r\n");
  CHECK(in_resp3(map) == "%3\r\n");
  const auto floating = [](ReplyWriter& w) { w.floating(1.5); };
  CHECK(in_resp2(floating) == "$3\r\n1.5\r\n");
  CHECK(in_resp3(floating) == ",1.5\r\n");
  const auto infinite = [](ReplyWriter& w) {
    w.floating(-std::numeric_limits<double>::infinity());
    w.floating(std::numeric_limits<double>::quiet_NaN());
  };
  CHECK(in_resp3(infinite) == ",-inf\r\n,nan\r\n");
  const auto boolean = [](ReplyWriter& w) {
    w.boolean(true);
    w.boolean(false);
  };
  CHECK(in_resp2(boolean) == ":1\r\n:0\r\n");
  CHECK(in_resp3(boolean) == "#t\r\n#f\r\n");
  const auto verbatim = [](ReplyWriter& w) { w.verbatim("hello"); };
  CHECK(in_resp2(verbatim) == "$5\r\nhello\r\n");
  CHECK(in_resp3(verbatim) == "=9\r\ntxt:hello\r\n");
}

TEST_CASE("reply: no error can break out of its line") {
  CHECK(in_resp2([](ReplyWriter& w) { w.error("ERR a\r\n+OK\r\n"); }) == "-ERR a  +OK  \r\n");
  CHECK(in_resp2([](ReplyWriter& w) { w.simple("a\nb"); }) == "+a b\r\n");
}

TEST_CASE("reply: the Node's errors begin with the word of their code") {
  const auto said = [](node::ErrorReply::Code code) {
    return in_resp2([code](ReplyWriter& w) { w.error(node::ErrorReply{code, "x"}); });
  };
  CHECK(said(node::ErrorReply::kError) == "-ERR x\r\n");
  CHECK(said(node::ErrorReply::kUnavailable) == "-UNAVAILABLE x\r\n");
  CHECK(said(node::ErrorReply::kTimeout) == "-TIMEOUT x\r\n");
  CHECK(said(node::ErrorReply::kDiskFull) == "-DISKFULL x\r\n");
  CHECK(said(node::ErrorReply::kTooBig) == "-TOOBIG x\r\n");
  CHECK(said(node::ErrorReply::kWrongType) == "-WRONGTYPE x\r\n");
}

TEST_CASE("words: a pattern matches with stars and question marks, in any case") {
  CHECK(matches_pattern("*", ""));
  CHECK(matches_pattern("max*", "maxmemory"));
  CHECK(matches_pattern("MAX*y", "maxmemory"));
  CHECK(matches_pattern("*mem*y", "maxmemory"));
  CHECK(matches_pattern("sav?", "save"));
  CHECK_FALSE(matches_pattern("sav?", "sav"));
  CHECK_FALSE(matches_pattern("*mem", "maxmemory"));
  CHECK_FALSE(matches_pattern("", "save"));
  CHECK_FALSE(matches_pattern(std::string(1'000'000, '*') + "x", "save"));
}

TEST_CASE("words: quoted text is printable and bounded") {
  CHECK(escaped("a\r\n\xff", 100) == "a\\x0d\\x0a\\xff");
  CHECK(escaped("abcdef", 3) == "abc");
  CHECK(escaped("ab\n", 5) == "ab");
}

}  // namespace torc::resp
