#include "daemon/resp/parser.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "tests/daemon/resp_fixture.h"

namespace torc::resp {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view bytes) {
  Parser parser({});
  REQUIRE(parser.parse(bytes) == Parser::Outcome::kCommand);
  CHECK(parser.consumed() == bytes.size());
  const Arguments arguments = parser.arguments(bytes);
  Words words;
  for (size_t i = 0; i < arguments.size(); ++i) words.emplace_back(arguments[i]);
  return words;
}

std::string error_of(std::string_view bytes) {
  Parser parser({});
  REQUIRE(parser.parse(bytes) == Parser::Outcome::kError);
  return parser.error();
}

}  // namespace

TEST_CASE("parser: an array of bulk strings is taken as it is, whatever bytes it holds") {
  CHECK(words_of("*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n") == Words{"GET", "a\r\nb"});
  CHECK(words_of("*1\r\n$0\r\n\r\n") == Words{""});
  CHECK(words_of("*0\r\n").empty());
}

TEST_CASE("parser: arguments are views into the bytes received") {
  const std::string bytes = command({"SET", "k", "value"});
  Parser parser({});
  REQUIRE(parser.parse(bytes) == Parser::Outcome::kCommand);
  CHECK(parser.arguments(bytes)[2].data() == bytes.data() + bytes.find("value"));
}

TEST_CASE("parser: a line typed by hand is split at spaces and unquoted as Redis does it") {
  CHECK(words_of("  set  k v \r\n") == Words{"set", "k", "v"});
  CHECK(words_of("get k\n") == Words{"get", "k"});
  CHECK(words_of("\r\n").empty());
  CHECK(words_of("set k \"a b\\n\\x41\\\"\\q\"\r\n") == Words{"set", "k", "a b\nA\"q"});
  CHECK(words_of("set k 'a \\' \\n'\r\n") == Words{"set", "k", "a ' \\n"});
  CHECK(words_of("set k \"\"\r\n") == Words{"set", "k", ""});
  CHECK(words_of("set k\"ey\" ''\r\n") == Words{"set", "key", ""});
}

TEST_CASE("parser: quotes that do not close, or close inside a word, are an error") {
  CHECK(error_of("set k \"v\r\n") == "unbalanced quotes in request");
  CHECK(error_of("set k 'v\r\n") == "unbalanced quotes in request");
  CHECK(error_of("set k \"v\"w\r\n") == "unbalanced quotes in request");
  CHECK(error_of("set k \"v\\\r\n") == "unbalanced quotes in request");
}

TEST_CASE("parser: a length that cannot be is refused when it is declared") {
  CHECK(error_of("*2147483647\r\n") == "invalid multibulk length");
  CHECK(error_of("*-1\r\n") == "invalid multibulk length");
  CHECK(error_of("*\r\n") == "invalid multibulk length");
  CHECK(error_of("*1\n$1\r\n") == "invalid multibulk length");
  CHECK(error_of("*1x\r\n") == "invalid multibulk length");
  CHECK(error_of("*99999999999999999999999\r\n") == "invalid multibulk length");
  CHECK(error_of("*" + std::string(40, '1')) == "too big multibulk count string");
  CHECK(error_of("*1\r\n$999999999999\r\n") == "invalid bulk length");
  CHECK(error_of("*1\r\n$-1\r\n") == "invalid bulk length");
  CHECK(error_of("*1\r\n$ 1\r\n") == "invalid bulk length");
  CHECK(error_of("*1\r\n$" + std::string(40, '1')) == "too big bulk count string");
  CHECK(error_of("*2\r\n$60000000\r\n" + std::string(60'000'000, 'x') + "\r\n$60000000\r\n") ==
        "invalid bulk length");
}

TEST_CASE("parser: bytes that are no bulk string say what came instead") {
  CHECK(error_of("*1\r\n:1\r\n") == "expected '$', got ':'");
  CHECK(error_of("*1\r\n\r\n") == "expected '$', got '\\x0d'");
  CHECK(error_of("*1\r\n$1\r\nabc") == "expected CRLF behind a bulk of the declared length");
}

TEST_CASE("parser: a line longer than the limit is refused with or without its end") {
  const std::string line(64 * 1024 + 1, 'a');
  CHECK(error_of(line) == "too big inline request");
  CHECK(error_of(line + "\n") == "too big inline request");
  CHECK(words_of(std::string(64 * 1024, 'a') + "\n").size() == 1);
}

TEST_CASE("parser: a browser that is made to send a form gets no command through") {
  CHECK(error_of("POST / HTTP/1.1\r\n") == "this is not HTTP");
  CHECK(error_of("Host: localhost\r\n") == "this is not HTTP");
}

TEST_CASE("parser: the way bytes are cut into pieces changes nothing") {
  const bool holds = rc::check([] {
    const auto arguments = *rc::gen::container<std::vector<std::string>>(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab \r\n$*\"'\\x0"))));
    std::string bytes;
    if (*rc::gen::arbitrary<bool>()) {
      bytes = "*" + std::to_string(arguments.size()) + "\r\n";
      for (const auto& a : arguments) bytes += "$" + std::to_string(a.size()) + "\r\n" + a + "\r\n";
      // Sometimes damaged.
      if (*rc::gen::arbitrary<bool>()) bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = '1';
    } else {
      for (const auto& a : arguments) bytes += a + " ";
      bytes += "\r\n";
    }
    Parser at_once({});
    Parser byte_by_byte({});
    const Parser::Outcome expected = at_once.parse(bytes);
    Parser::Outcome outcome = Parser::Outcome::kMore;
    for (size_t n = 0; n <= bytes.size() && outcome == Parser::Outcome::kMore; ++n) {
      outcome = byte_by_byte.parse(std::string(bytes, 0, n));  // the bytes move with each piece
    }
    RC_ASSERT(outcome == expected);
    RC_ASSERT(byte_by_byte.error() == at_once.error());
    if (expected != Parser::Outcome::kCommand) return;
    RC_ASSERT(byte_by_byte.consumed() == at_once.consumed());
    const Arguments a = at_once.arguments(bytes);
    const Arguments b = byte_by_byte.arguments(bytes);
    RC_ASSERT(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) RC_ASSERT(a[i] == b[i]);
  });
  CHECK(holds);
}

}  // namespace torc::resp
