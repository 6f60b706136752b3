#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

#include "tests/daemon/resp_fixture.h"

namespace torc::resp {
namespace {

// Sends garbage; there must be one error, then the end.
void expect_protocol_error(std::string_view bytes, std::string_view words) {
  CAPTURE(words);
  Talk talk;
  const std::string said = talk.say(bytes);
  CHECK(said == "-ERR Protocol error: " + std::string(words) + "\r\n");
  CHECK(talk.session.closing());
  CHECK_FALSE(talk.session.wants_bytes());
  CHECK(talk.say(command({"PING"})).empty());
}

}  // namespace

TEST_CASE("hostile: giant and negative lengths end the connection with one error") {
  expect_protocol_error("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$999999999999\r\n", "invalid bulk length");
  expect_protocol_error("*2147483647\r\n", "invalid multibulk length");
  expect_protocol_error("*-5\r\n", "invalid multibulk length");
  expect_protocol_error("*1\r\n$-1\r\n", "invalid bulk length");
  expect_protocol_error("*1\r\n$18446744073709551616\r\n", "invalid bulk length");
}

TEST_CASE("hostile: a line of a megabyte ends the connection before it has arrived") {
  Talk talk;
  size_t sent = 0;
  const std::string piece(16 * 1024, 'a');
  while (sent < 1024 * 1024 && talk.session.wants_bytes()) {
    talk.session.on_bytes(piece);
    sent += piece.size();
  }
  CHECK(sent <= 80 * 1024);
  CHECK(talk.session.input_capacity() <= 160 * 1024);
  CHECK(talk.take() == "-ERR Protocol error: too big inline request\r\n");
  CHECK(talk.session.closing());
}

TEST_CASE("hostile: a missing CRLF, a wrong type and open quotes end the connection") {
  expect_protocol_error("*1\r\n$4\r\nPINGxx", "expected CRLF behind a bulk of the declared length");
  expect_protocol_error("*1\r\n+PING\r\n", "expected '$', got '+'");
  expect_protocol_error("set k \"v\r\n", "unbalanced quotes in request");
  expect_protocol_error("POST / HTTP/1.1\r\nHost: x\r\n\r\nSET k v\r\n", "this is not HTTP");
}

TEST_CASE("hostile: answers that are owed come before the error") {
  Talk talk;
  talk.session.on_bytes(command({"GET", "k"}) + "*1\r\n:1\r\n" + command({"SET", "k", "v"}));
  CHECK_FALSE(talk.session.closing());
  CHECK(talk.node.running.size() == 1);
  talk.answer_all();
  CHECK(talk.take() == "$-1\r\n-ERR Protocol error: expected '$', got ':'\r\n");
  CHECK(talk.session.closing());
}

TEST_CASE("hostile: half a request is waited for and asks for nothing") {
  Talk talk;
  CHECK(talk.say("*2\r\n$3\r\nGET\r\n$10\r\nabc").empty());
  CHECK(talk.session.wants_bytes());
  CHECK_FALSE(talk.session.closing());
  CHECK(talk.say("defghij\r\n") == "$-1\r\n");
}

TEST_CASE("hostile: declared lengths reserve nothing") {
  // A count and a size that are within the limits, but of which nothing arrives.
  Talk talk;
  talk.session.on_bytes("*1048576\r\n$16777216\r\nabc");
  CHECK(talk.session.wants_bytes());
  CHECK(talk.session.input_capacity() < 1024);
}

TEST_CASE("hostile: a value of 16 MiB in small pieces is taken, and looked at once") {
  Talk talk;
  const std::string value(16 * 1024 * 1024, 'v');
  const std::string bytes = command({"SET", "k", value});
  for (size_t i = 0; i < bytes.size(); i += 64 * 1024) {
    talk.session.on_bytes(std::string_view(bytes).substr(i, 64 * 1024));
    CHECK(talk.session.input_capacity() <= 2 * (i + 64 * 1024));
  }
  CHECK(talk.session.input_capacity() <= 256 * 1024);  // given back
  talk.answer_all();
  CHECK(talk.take() == "+OK\r\n");
  CHECK(talk.node.store["k"].value == value);
}

TEST_CASE("hostile: a large value byte by byte costs no more than its bytes") {
  // Would take minutes if any byte were looked at again with each piece.
  Talk talk;
  const std::string bytes = command({"SET", "k", std::string(2 * 1024 * 1024, 'v')});
  for (size_t i = 0; i < bytes.size(); ++i) {
    talk.session.on_bytes(std::string_view(bytes).substr(i, 1));
  }
  talk.answer_all();
  CHECK(talk.take() == "+OK\r\n");
}

TEST_CASE("hostile: a flood of commands without a reader stops at the pause") {
  Talk talk;
  std::string pings;
  for (int i = 0; i < 5000; ++i) pings += command({"PING"});
  size_t sent = 0;
  while (talk.session.wants_bytes() && sent < 1'000'000'000) {
    talk.session.on_bytes(pings);
    sent += pings.size();
  }
  CHECK(talk.session.output().size() <= 1024 * 1024 + 10);
  CHECK(sent < 4 * 1024 * 1024);
  CHECK_FALSE(talk.session.overflowed());
}

TEST_CASE("hostile: a flood of requests that nobody answers stops at the pipeline's limit") {
  Talk talk;
  for (int i = 0; i < 100'000 && talk.session.wants_bytes(); ++i) {
    talk.session.on_bytes(command({"SET", std::to_string(i), "v"}));
  }
  CHECK(talk.node.running.size() == 1024);
}

TEST_CASE("hostile: a flood on one key queues no more than the limit") {
  Talk talk;
  int sent = 0;
  for (; sent < 100'000 && talk.session.wants_bytes(); ++sent) {
    talk.session.on_bytes(command({"SET", "k", "v"}));
  }
  CHECK(sent == 1024);
  CHECK(talk.node.running.size() == 1);
  talk.answer_all();
  CHECK(talk.take().size() == 1024 * 5);
}

TEST_CASE("hostile: a command over a million keys runs within the pipeline's limit") {
  Talk talk;
  constexpr size_t kKeys = 1024 * 1024 - 1;
  std::string bytes = "*" + std::to_string(kKeys + 1) + "\r\n$6\r\nEXISTS\r\n";
  for (size_t i = 0; i < kKeys; ++i) bytes += "$1\r\nk\r\n";
  talk.node.store["k"].value = "v";
  CHECK(talk.say(bytes) == ":" + std::to_string(kKeys) + "\r\n");
  CHECK(talk.node.submitted_max <= 1024);
}

TEST_CASE("hostile: small commands in between halves of others leave no growing buffer behind") {
  Talk talk;
  const std::string bytes = command({"SET", "k", std::string(1000, 'v')});
  std::string said;
  for (int i = 0; i < 5000; ++i) {
    // Every piece ends in the middle of a command.
    said = talk.say(i == 0 ? bytes.substr(0, 500) : bytes.substr(500) + bytes.substr(0, 500));
  }
  CHECK(said == "+OK\r\n");
  CHECK(talk.session.input_capacity() <= 16 * 1024);
}

TEST_CASE("hostile: empty lines and empty arrays are nothing") {
  Talk talk;
  CHECK(talk.say("\r\n\r\n*0\r\n\n" + command({"PING"})) == "+PONG\r\n");
}

TEST_CASE("hostile: noise never gets more than errors, and byte by byte the same ones") {
  const bool holds = rc::check([] {
    const std::string alphabet = "*$123\r\n\"'GETSEDLPINkv :-+";
    const auto noise = *rc::gen::container<std::string>(rc::gen::elementOf(alphabet));
    const auto start = *rc::gen::elementOf(std::vector<std::string>{
        "", "*2\r\n$3\r\nGET\r\n", "*3\r\n$3\r\nSET\r\n", "get ", "mset a ", "*1\r\n$"});
    const std::string bytes = start + noise + "\r\n" + command({"PING"});
    Talk at_once;
    const std::string expected = at_once.say(bytes);
    Talk byte_by_byte;
    std::string said;
    for (const char c : bytes) said += byte_by_byte.say(std::string_view(&c, 1));
    RC_ASSERT(said == expected);
    RC_ASSERT(byte_by_byte.session.closing() == at_once.session.closing());
  });
  CHECK(holds);
}

}  // namespace torc::resp
