#include <doctest/doctest.h>

#include <string>

#include "tests/daemon/resp_fixture.h"

namespace torc::resp {
namespace {

const node::PutRequest& put_of(const Talk& talk) {
  REQUIRE(talk.node.running.size() == 1);
  return std::get<node::PutRequest>(talk.node.running[0].request);
}

// What SET with these options asks the Node for.
node::PutRequest put_for(std::string_view bytes) {
  Talk talk;
  talk.session.on_bytes(bytes);
  return put_of(talk);
}

}  // namespace

TEST_CASE("keys: what is set can be got until it is deleted") {
  Talk talk;
  CHECK(talk.say({"SET", "k", "v"}) == "+OK\r\n");
  CHECK(talk.say({"get", "k"}) == "$1\r\nv\r\n");
  CHECK(talk.say({"STRLEN", "k"}) == ":1\r\n");
  CHECK(talk.say({"TYPE", "k"}) == "+string\r\n");
  CHECK(talk.say({"DEL", "k"}) == ":1\r\n");
  CHECK(talk.say({"UNLINK", "k"}) == ":0\r\n");
  CHECK(talk.say({"GET", "k"}) == "$-1\r\n");
  CHECK(talk.say({"STRLEN", "k"}) == ":0\r\n");
  CHECK(talk.say({"TYPE", "k"}) == "+none\r\n");
}

TEST_CASE("keys: the empty key and the empty value are as good as others") {
  Talk talk;
  CHECK(talk.say({"SET", "", ""}) == "+OK\r\n");
  CHECK(talk.say({"GET", ""}) == "$0\r\n\r\n");
}

TEST_CASE("keys: commands over many keys count, list or set them") {
  Talk talk;
  CHECK(talk.say({"MSET", "a", "1", "b", "2"}) == "+OK\r\n");
  CHECK(talk.say({"MGET", "a", "x", "b"}) == "*3\r\n$1\r\n1\r\n$-1\r\n$1\r\n2\r\n");
  CHECK(talk.say({"EXISTS", "a", "b", "x", "a"}) == ":3\r\n");
  CHECK(talk.say({"DEL", "a", "b", "x", "a"}) == ":2\r\n");
  CHECK(talk.say({"MSET", "a", "1", "b"}) ==
        "-ERR wrong number of arguments for 'mset' command\r\n");
}

TEST_CASE("keys: a key that MSET names twice ends with its last value") {
  Talk talk;
  CHECK(talk.say({"MSET", "k", "1", "j", "0", "k", "2"}) == "+OK\r\n");
  CHECK(talk.node.store["k"].value == "2");
}

TEST_CASE("keys: one key's error is the answer of a command over many") {
  Talk talk;
  talk.node.broken["b"] = {node::ErrorReply::kUnavailable, "n2 and n3 are away"};
  const std::string error = "-UNAVAILABLE n2 and n3 are away\r\n";
  CHECK(talk.say({"MGET", "a", "b", "c"}) == error);
  CHECK(talk.say({"MSET", "a", "1", "b", "2"}) == error);
  CHECK(talk.say({"DEL", "b", "a"}) == error);
  CHECK(talk.say({"GET", "a"}) == "$-1\r\n");
}

TEST_CASE("keys: SET passes the expiry on as it was given") {
  CHECK(put_for(command({"SET", "k", "v", "EX", "10"})).expires_in_ms == 10'000);
  CHECK(put_for(command({"SET", "k", "v", "px", "10"})).expires_in_ms == 10);
  CHECK(put_for(command({"SET", "k", "v", "EXAT", "10"})).expires_at_ms == 10'000);
  CHECK(put_for(command({"SET", "k", "v", "PXAT", "10"})).expires_at_ms == 10);
  CHECK(put_for(command({"SETEX", "k", "10", "v"})).expires_in_ms == 10'000);
  CHECK(put_for(command({"PSETEX", "k", "10", "v"})).expires_in_ms == 10);
  const node::PutRequest plain = put_for(command({"SET", "k", "v"}));
  CHECK(!plain.expires_in_ms.has_value());
  CHECK(!plain.expires_at_ms.has_value());
}

TEST_CASE("keys: SET refuses options that contradict each other or make no sense") {
  Talk talk;
  CHECK(talk.say({"SET", "k", "v", "EX", "1", "PX", "1"}) == "-ERR syntax error\r\n");
  CHECK(talk.say({"SET", "k", "v", "KEEPTTL", "EX", "1"}) == "-ERR syntax error\r\n");
  CHECK(talk.say({"SET", "k", "v", "EX"}) == "-ERR syntax error\r\n");
  CHECK(talk.say({"SET", "k", "v", "SOON"}) == "-ERR syntax error\r\n");
  CHECK(talk.say({"SET", "k", "v", ""}) == "-ERR syntax error\r\n");
  const std::string no_number = "-ERR value is not an integer or out of range\r\n";
  CHECK(talk.say({"SET", "k", "v", "EX", "ten"}) == no_number);
  const std::string invalid = "-ERR invalid expire time in 'set' command\r\n";
  CHECK(talk.say({"SET", "k", "v", "EX", "0"}) == invalid);
  CHECK(talk.say({"SET", "k", "v", "PX", "-1"}) == invalid);
  CHECK(talk.say({"SET", "k", "v", "EX", "9223372036854775807"}) == invalid);
  CHECK(talk.say({"SETEX", "k", "0", "v"}) == "-ERR invalid expire time in 'setex' command\r\n");
  CHECK(talk.node.store.empty());
}

TEST_CASE("keys: SET NX and XX are refused in words") {
  Talk talk;
  CHECK(talk.say({"SET", "k", "v", "NX"}) ==
        "-ERR 'SET NX' needs an atomic read-modify-write, which torc does not promise\r\n");
  CHECK(talk.say({"SET", "k", "v", "xx"}) ==
        "-ERR 'SET XX' needs an atomic read-modify-write, which torc does not promise\r\n");
}

TEST_CASE("keys: SET GET answers with the value that stood before") {
  Talk talk;
  CHECK(talk.say({"SET", "k", "1", "GET"}) == "$-1\r\n");
  CHECK(talk.say({"SET", "k", "2", "GET", "EX", "5"}) == "$1\r\n1\r\n");
  CHECK(talk.node.store["k"].value == "2");
}

TEST_CASE("keys: SET GET tells the write's error, not the value it read") {
  Talk talk;
  talk.say({"SET", "k", "1"});
  talk.session.on_bytes(command({"SET", "k", "2", "GET"}));
  talk.answer(0);
  talk.node.broken["k"] = {node::ErrorReply::kTimeout, "outcome unknown"};
  talk.answer_all();
  CHECK(talk.take() == "-TIMEOUT outcome unknown\r\n");
}

TEST_CASE("keys: a read that fails keeps its write from being made") {
  Talk talk;
  talk.node.broken["k"] = {node::ErrorReply::kUnavailable, "x"};
  talk.session.on_bytes(command({"SET", "k", "2", "KEEPTTL"}));
  talk.answer(0);
  CHECK(talk.node.running.empty());
  CHECK(talk.take() == "-UNAVAILABLE x\r\n");
}

TEST_CASE("keys: SET KEEPTTL writes with the expiry it read") {
  Talk talk;
  talk.say({"SET", "k", "1", "PXAT", "123456"});
  CHECK(talk.say({"SET", "k", "2", "KEEPTTL"}) == "+OK\r\n");
  CHECK(talk.node.store["k"].value == "2");
  CHECK(talk.node.store["k"].expires_at_ms == 123456);
  CHECK(talk.say({"SET", "k", "3", "KEEPTTL", "GET"}) == "$1\r\n2\r\n");
  CHECK(talk.node.store["k"].expires_at_ms == 123456);
  talk.say({"SET", "k", "4"});
  CHECK(talk.node.store["k"].expires_at_ms == 0);
}

TEST_CASE("keys: GETDEL returns the value and deletes it, and writes nothing where nothing was") {
  Talk talk;
  talk.say({"SET", "k", "1"});
  CHECK(talk.say({"GETDEL", "k"}) == "$1\r\n1\r\n");
  CHECK(!talk.node.store.contains("k"));
  talk.session.on_bytes(command({"GETDEL", "k"}));
  talk.answer(0);
  CHECK(talk.node.running.empty());
  CHECK(talk.take() == "$-1\r\n");
}

TEST_CASE("keys: keys and values over the limits are refused and the connection goes on") {
  Talk talk;
  const std::string key(65537, 'k');
  const std::string refused = "-TOOBIG key of 65537 bytes, at most 65536\r\n";
  CHECK(talk.say({"GET", key}) == refused);
  CHECK(talk.say({"SET", key, "v"}) == refused);
  CHECK(talk.say({"MGET", "a", key}) == refused);
  CHECK(talk.say({"MSET", "a", "1", key, "2"}) == refused);
  CHECK(talk.say({"TORC.OWNERS", key}) == refused);
  CHECK(talk.say({"SET", "k", std::string(16 * 1024 * 1024 + 1, 'v')}) ==
        "-TOOBIG value of 16777217 bytes, at most 16777216\r\n");
  CHECK(talk.node.store.empty());
  CHECK(talk.say({"SET", std::string(65536, 'k'), "v"}) == "+OK\r\n");
}

TEST_CASE("keys: levels hold for the connection, or for one request") {
  Talk talk;
  CHECK(talk.say({"TORC.CONSISTENCY"}) ==
        "*4\r\n$4\r\nread\r\n$6\r\nquorum\r\n$5\r\nwrite\r\n"
        "$6\r\nquorum\r\n");
  CHECK(talk.say({"TORC.CONSISTENCY", "READ", "one", "WRITE", "2"}) == "+OK\r\n");
  talk.session.on_bytes(command({"GET", "k"}) + command({"SET", "j", "v"}) +
                        command({"TORC.GET", "a", "LEVEL", "all"}) +
                        command({"TORC.SET", "b", "v", "LEVEL", "quorum"}) +
                        command({"TORC.DEL", "c"}));
  REQUIRE(talk.node.running.size() == 5);
  const auto read_kind = [&](size_t i) {
    return std::get<node::GetRequest>(talk.node.running[i].request).level.kind;
  };
  const auto write_level = [&](size_t i) {
    return std::get<node::PutRequest>(talk.node.running[i].request).level;
  };
  CHECK(read_kind(0) == node::Level::kOne);
  CHECK(write_level(1).kind == node::Level::kCount);
  CHECK(write_level(1).count == 2);
  CHECK(read_kind(2) == node::Level::kAll);
  CHECK(write_level(3).kind == node::Level::kQuorum);
  CHECK(write_level(4).count == 2);
  talk.answer_all();
  CHECK(talk.take() == "$-1\r\n+OK\r\n$-1\r\n+OK\r\n:0\r\n");

  CHECK(talk.say({"RESET"}) == "+RESET\r\n");
  talk.session.on_bytes(command({"GET", "k"}));
  CHECK(read_kind(0) == node::Level::kQuorum);
}

TEST_CASE("keys: levels that do not exist are refused in words") {
  Talk talk;
  CHECK(talk.say({"TORC.GET", "k", "LEVEL", "linear"}) ==
        "-ERR the level 'linear' is not available in this version of torc\r\n");
  CHECK(talk.say({"TORC.CONSISTENCY", "WRITE", "sloppy"}) ==
        "-ERR the level 'sloppy' is not available in this version of torc\r\n");
  const std::string unknown = "-ERR a level is one, quorum, all or a number of replicas\r\n";
  CHECK(talk.say({"TORC.GET", "k", "LEVEL", "most"}) == unknown);
  CHECK(talk.say({"TORC.GET", "k", "LEVEL", "0"}) == unknown);
  CHECK(talk.say({"TORC.GET", "k", "LEVEL", "256"}) == unknown);
  CHECK(talk.say({"TORC.GET", "k", "LEVEL"}) ==
        "-ERR syntax error: only LEVEL and a level may follow\r\n");
  CHECK(talk.say({"TORC.CONSISTENCY", "READ"}) ==
        "-ERR syntax error: TORC.CONSISTENCY [READ level] [WRITE level]\r\n");
}

}  // namespace torc::resp
