#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "daemon/resp/key_order.h"
#include "tests/daemon/resp_fixture.h"

namespace torc::resp {

TEST_CASE("pipeline: commands on different keys run at once and are answered in order") {
  Talk talk;
  talk.session.on_bytes(command({"SET", "a", "1"}) + command({"GET", "b"}) +
                        command({"SET", "c", "3"}));
  REQUIRE(talk.node.running.size() == 3);
  talk.answer(2);
  talk.answer(1);
  CHECK(talk.session.output().empty());
  talk.answer(0);
  CHECK(talk.take() == "+OK\r\n$-1\r\n+OK\r\n");
}

TEST_CASE("pipeline: commands on one key run one after another") {
  Talk talk;
  talk.session.on_bytes(command({"SET", "k", "1"}) + command({"GET", "k"}) +
                        command({"SET", "k", "2"}) + command({"GET", "k"}) + command({"GET", "j"}));
  REQUIRE(talk.node.running.size() == 2);  // the first SET k, and GET j
  CHECK(std::holds_alternative<node::PutRequest>(talk.node.running[0].request));
  talk.answer(0);
  REQUIRE(talk.node.running.size() == 2);
  CHECK(std::holds_alternative<node::GetRequest>(talk.node.running[1].request));
  talk.answer_all();
  CHECK(talk.take() == "+OK\r\n$1\r\n1\r\n+OK\r\n$1\r\n2\r\n$-1\r\n");
}

TEST_CASE("pipeline: both halves of a read then a write come before what follows on the key") {
  Talk talk;
  talk.session.on_bytes(command({"SET", "k", "1", "GET"}) + command({"GETDEL", "k"}) +
                        command({"EXISTS", "k"}));
  CHECK(talk.node.running.size() == 1);
  talk.answer(0);
  CHECK(talk.node.running.size() == 1);
  CHECK(std::holds_alternative<node::PutRequest>(talk.node.running[0].request));
  talk.answer_all();
  CHECK(talk.take() == "$-1\r\n$1\r\n1\r\n:0\r\n");
}

TEST_CASE("pipeline: answers of the session itself keep their place") {
  Talk talk;
  talk.session.on_bytes(command({"GET", "k"}) + command({"PING"}) + command({"NOSUCH"}) +
                        command({"GET", "j"}) + command({"ECHO", "x"}));
  CHECK(talk.session.output().empty());
  talk.answer_all();
  CHECK(talk.take() ==
        "$-1\r\n+PONG\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n$-1\r\n"
        "$1\r\nx\r\n");
}

TEST_CASE("pipeline: a change of protocol holds for the commands behind it only") {
  Talk talk;
  talk.session.on_bytes(command({"GET", "a"}) + command({"MGET", "b"}) + command({"HELLO", "3"}) +
                        command({"GET", "c"}) + command({"RESET"}) + command({"GET", "d"}));
  talk.answer_all();
  const std::string said = talk.take();
  CHECK(said.starts_with("$-1\r\n*1\r\n$-1\r\n%7\r\n"));
  CHECK(said.ends_with("_\r\n+RESET\r\n$-1\r\n"));
}

TEST_CASE("pipeline: the high half of a request's id is the session's") {
  Talk talk;
  talk.session.on_bytes(command({"GET", "a"}) + command({"GET", "b"}));
  CHECK((talk.node.running[0].id >> 32) == 5);
  CHECK((talk.node.running[1].id >> 32) == 5);
  CHECK(talk.node.running[0].id != talk.node.running[1].id);
}

TEST_CASE("pipeline: at its limit nothing is read, and it goes on when there is room") {
  Talk talk({.pipeline_max = 2});
  talk.session.on_bytes(command({"SET", "a", "1"}) + command({"SET", "b", "2"}) +
                        command({"SET", "c", "3"}) + command({"SET", "d", "4"}));
  CHECK(talk.node.running.size() == 2);
  CHECK_FALSE(talk.session.wants_bytes());
  talk.answer(1);  // its answer waits for the first, and so keeps its place
  CHECK_FALSE(talk.session.wants_bytes());
  talk.answer(0);
  CHECK(talk.session.wants_bytes());
  talk.session.resume();
  CHECK(talk.node.running.size() == 2);
  talk.answer_all();
  CHECK(talk.take() == "+OK\r\n+OK\r\n+OK\r\n+OK\r\n");
  CHECK(talk.session.wants_bytes());
}

TEST_CASE("pipeline: a command over more keys than the limit runs in portions") {
  Talk talk({.pipeline_max = 3});
  std::string set = "*21\r\n$4\r\nMSET\r\n";
  std::string get = "*11\r\n$4\r\nMGET\r\n";
  std::string values = "*10\r\n";
  for (char c = '0'; c <= '9'; ++c) {
    const std::string bulk = std::string("$1\r\n") + c + "\r\n";
    set += bulk + bulk;
    get += bulk;
    values += bulk;
  }
  CHECK(talk.say(set + command({"PING"}) + get) == "+OK\r\n+PONG\r\n" + values);
  CHECK(talk.node.submitted_max == 3);
}

TEST_CASE("pipeline: a command over many keys gives up the rest when one has failed") {
  Talk talk({.pipeline_max = 2});
  talk.node.broken["a"] = {node::ErrorReply::kUnavailable, "x"};
  CHECK(talk.say({"MSET", "a", "1", "b", "2", "c", "3", "d", "4"}) == "-UNAVAILABLE x\r\n");
  CHECK(talk.node.store.contains("b"));  // was under way
  CHECK_FALSE(talk.node.store.contains("d"));
  CHECK(talk.say({"MGET", "b", "c"}) == "*2\r\n$1\r\n2\r\n$-1\r\n");
}

TEST_CASE("pipeline: requests that hold many bytes pause reading before their number does") {
  Talk talk({.running_bytes_pause = 1000});
  const std::string set =
      command({"SET", "a", std::string(600, 'v')}) + command({"SET", "b", std::string(600, 'v')});
  talk.session.on_bytes(set + command({"SET", "c", "v"}));
  CHECK(talk.node.running.size() == 2);
  CHECK_FALSE(talk.session.wants_bytes());
  talk.answer_all();
  CHECK(talk.take() == "+OK\r\n+OK\r\n+OK\r\n");
}

TEST_CASE("pipeline: unsent answers pause reading until they are taken") {
  Talk talk({.output_bytes_pause = 10});
  talk.session.on_bytes(command({"PING"}) + command({"PING"}) + command({"PING"}));
  CHECK_FALSE(talk.session.wants_bytes());
  CHECK(talk.take() == "+PONG\r\n+PONG\r\n");
  CHECK(talk.session.wants_bytes());
  talk.session.resume();
  CHECK(talk.take() == "+PONG\r\n");
}

TEST_CASE("pipeline: a command over many keys ends although its own answer is large") {
  Talk talk({.pipeline_max = 2, .output_bytes_pause = 10});
  for (const char* key : {"a", "b", "c", "d"}) talk.say({"SET", key, "0123456789"});
  const std::string bulk = "$10\r\n0123456789\r\n";
  CHECK(talk.say({"MGET", "a", "b", "c", "d"}) == "*4\r\n" + bulk + bulk + bulk + bulk);
}

TEST_CASE("pipeline: a client that reads many large values at once is slowed down, not cut off") {
  Talk talk({.output_bytes_max = 4 * 1024 * 1024});
  const std::string value(1024 * 1024 - 100, 'v');
  talk.node.store["big"].value = value;
  std::string gets;
  for (int i = 0; i < 64; ++i) {
    talk.node.store["k" + std::to_string(i)].value = value;
    gets += command({"GET", "k" + std::to_string(i)});
  }
  talk.session.on_bytes(gets);
  size_t received = 0;
  while (!talk.node.running.empty()) {
    talk.answer(talk.node.running.size() - 1);
    received += talk.take().size();
    if (talk.session.wants_bytes()) talk.session.resume();
  }
  CHECK_FALSE(talk.session.overflowed());
  CHECK(received > 64 * value.size());
}

TEST_CASE("pipeline: whoever does not read the answers is cut off, and their memory freed") {
  Talk talk({.output_bytes_max = 1000});
  talk.node.store["k"].value = std::string(900, 'v');
  talk.session.on_bytes(command({"GET", "k"}));
  talk.answer(0);
  CHECK_FALSE(talk.session.overflowed());
  talk.session.on_bytes(command({"GET", "k"}) + command({"GET", "j"}));
  talk.answer(0);
  CHECK(talk.session.overflowed());
  CHECK_FALSE(talk.session.wants_bytes());
  CHECK(talk.session.output().empty());
  talk.answer_all();  // what was under way may still end
  talk.session.on_bytes(command({"PING"}));
  CHECK(talk.session.output().empty());
}

TEST_CASE("pipeline: answers that wait for their turn count as unsent") {
  Talk talk({.output_bytes_max = 1000});
  talk.node.store["a"].value = std::string(600, 'v');
  talk.node.store["b"].value = std::string(600, 'v');
  talk.session.on_bytes(command({"SET", "slow", "v"}) + command({"GET", "a"}));
  talk.answer(1);
  CHECK_FALSE(talk.session.overflowed());
  talk.session.on_bytes(command({"GET", "b"}));
  talk.answer(1);
  CHECK(talk.session.overflowed());
}

TEST_CASE(
    "pipeline: whatever the order of the replies, answers are those of one command at a time") {
  const bool holds = rc::check([] {
    const auto bits = *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
    std::string bytes;
    for (const uint32_t b : bits) {
      const std::string key(1, static_cast<char>('a' + b % 3));
      const std::string other(1, static_cast<char>('a' + (b >> 2) % 3));
      const std::string value = std::to_string(b >> 8);
      switch ((b >> 4) % 9) {
        case 0:
          bytes += command({"SET", key, value});
          break;
        case 1:
          bytes += command({"GET", key});
          break;
        case 2:
          bytes += command({"MSET", key, value, other, "x"});
          break;
        case 3:
          bytes += command({"MGET", key, other});
          break;
        case 4:
          bytes += command({"SET", key, value, "GET"});
          break;
        case 5:
          bytes += command({"GETDEL", key});
          break;
        case 6:
          bytes += command({"DEL", key, other, key});
          break;
        case 7:
          bytes += command({"EXISTS", key, other});
          break;
        default:
          bytes += command({"HELLO", b % 2 == 0 ? "2" : "3"});
      }
    }
    // One at a time.
    Talk calm({.pipeline_max = 1});
    const std::string expected = calm.say(bytes);
    RC_ASSERT(calm.node.running.empty());

    Talk busy({.pipeline_max = *rc::gen::inRange<size_t>(1, 20)});
    std::string said;
    size_t sent = 0;
    while (sent < bytes.size() || !busy.node.running.empty()) {
      if (sent < bytes.size() && busy.session.wants_bytes()) {
        const size_t size = *rc::gen::inRange<size_t>(1, 40);
        busy.session.on_bytes(std::string_view(bytes).substr(sent, size));
        sent = std::min(sent + size, bytes.size());
      }
      if (!busy.node.running.empty()) {
        busy.answer(*rc::gen::inRange<size_t>(0, busy.node.running.size()));
      }
      said += busy.take();
      if (busy.session.wants_bytes()) busy.session.resume();
    }
    said += busy.take();
    RC_ASSERT(said == expected);
  });
  CHECK(holds);
}

TEST_CASE("key order: the one before is known until the last of a key has left") {
  KeyOrder order;
  CHECK(order.enter(1, 10) == std::nullopt);
  CHECK(order.enter(1, 11) == 10u);
  order.leave(1, 10);
  CHECK(order.enter(1, 12) == 11u);
  order.leave(1, 11);
  order.leave(1, 12);
  CHECK(order.enter(1, 13) == std::nullopt);
}

TEST_CASE("key order: keys that fall into one place do not disturb each other") {
  KeyOrder order;
  // All of these probe from the same slot; every second one leaves again.
  for (uint32_t i = 0; i < 100; ++i) CHECK(order.enter(uint64_t{i} << 32, i) == std::nullopt);
  for (uint32_t i = 0; i < 100; i += 2) order.leave(uint64_t{i} << 32, i);
  for (uint32_t i = 0; i < 100; ++i) {
    const auto before = order.enter(uint64_t{i} << 32, 1000 + i);
    CHECK(before.has_value() == (i % 2 == 1));
  }
}

}  // namespace torc::resp
