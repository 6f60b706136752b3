#include <doctest/doctest.h>

#include <string>

#include "daemon/resp/commands.h"
#include "tests/daemon/resp_fixture.h"

namespace torc::resp {

TEST_CASE("connection: PING and ECHO answer without the Node") {
  Talk talk;
  talk.session.on_bytes(command({"PING"}) + command({"PING", "a b"}) + command({"ECHO", "x"}) +
                        "ping\r\n");
  CHECK(talk.node.running.empty());
  CHECK(talk.take() == "+PONG\r\n$3\r\na b\r\n$1\r\nx\r\n+PONG\r\n");
}

TEST_CASE("connection: a wrong number of arguments names the command") {
  Talk talk;
  CHECK(talk.say({"GET"}) == "-ERR wrong number of arguments for 'get' command\r\n");
  CHECK(talk.say({"Get", "a", "b"}) == "-ERR wrong number of arguments for 'get' command\r\n");
  CHECK(talk.say({"PING", "a", "b"}) == "-ERR wrong number of arguments for 'ping' command\r\n");
  CHECK(talk.say({"MSET", "a"}) == "-ERR wrong number of arguments for 'mset' command\r\n");
}

TEST_CASE("connection: every command checks its arity") {
  for (const Command& each : commands()) {
    Talk talk;
    // One argument more than it takes, or one less than it needs.
    const size_t size = static_cast<size_t>(each.arity > 0 ? each.arity + 1 : -each.arity - 1);
    if (size == 0) continue;
    std::string bytes = "*" + std::to_string(size) + "\r\n$" + std::to_string(each.name.size()) +
                        "\r\n" + std::string(each.name) + "\r\n";
    for (size_t i = 1; i < size; ++i) bytes += "$1\r\nx\r\n";
    CAPTURE(each.name);
    CHECK(talk.say(bytes).starts_with("-ERR wrong number of arguments for '"));
  }
}

TEST_CASE("connection: an unknown command is named with its first arguments, bounded and escaped") {
  Talk talk;
  CHECK(talk.say({"FOO", "a", "b\r\n"}) ==
        "-ERR unknown command 'FOO', with args beginning with: 'a' 'b\\x0d\\x0a' \r\n");
  const std::string long_name(100'000, 'x');
  const std::string error = talk.say({long_name, long_name, long_name});
  CHECK(error.starts_with("-ERR unknown command 'xxx"));
  CHECK(error.size() < 400);
  CHECK(talk.say({""}) == "-ERR unknown command '', with args beginning with: \r\n");
}

TEST_CASE("connection: commands that need a read-modify-write are refused with the reason") {
  Talk talk;
  for (const char* name : {"INCR", "DECR", "APPEND", "SETNX", "MULTI", "EXEC", "EVAL", "WATCH"}) {
    CHECK(talk.say({name, "k", "1"}) ==
          "-ERR '" + std::string(name) +
              "' needs an atomic read-modify-write, which torc does not promise\r\n");
  }
  CHECK(talk.say({"incr", "k"}).starts_with("-ERR 'INCR' needs"));
  CHECK(talk.say({"FLUSHALL"}).starts_with("-ERR 'FLUSHALL' is refused: "));
  CHECK(talk.say({"FLUSHDB", "ASYNC"}).starts_with("-ERR 'FLUSHDB' is refused: "));
  CHECK(talk.say({"TTL", "k"}) == "-ERR 'TTL' is not available in this version of torc\r\n");
}

TEST_CASE("connection: only database 0 exists") {
  Talk talk;
  CHECK(talk.say({"SELECT", "0"}) == "+OK\r\n");
  CHECK(talk.say({"SELECT", "1"}) == "-ERR DB index is out of range\r\n");
  CHECK(talk.say({"SELECT", "x"}) == "-ERR invalid DB index\r\n");
}

TEST_CASE("connection: there is no password to give") {
  Talk talk;
  const std::string refused =
      "-ERR Client sent AUTH, but no password is set: torc has no users yet\r\n";
  CHECK(talk.say({"AUTH", "secret"}) == refused);
  CHECK(talk.say({"HELLO", "3", "AUTH", "default", "secret"}) == refused);
  CHECK(talk.say({"GET", "k"}) == "$-1\r\n");  // still RESP2
}

TEST_CASE("connection: HELLO chooses the protocol and tells who answers") {
  Talk talk;
  CHECK(talk.say({"HELLO", "3", "SETNAME", "me"}) ==
        "%7\r\n$6\r\nserver\r\n$4\r\ntorc\r\n$7\r\nversion\r\n$5\r\n0.1.0\r\n$5\r\nproto\r\n:3\r\n"
        "$2\r\nid\r\n:5\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"
        "$7\r\nmodules\r\n*0\r\n");
  CHECK(talk.say({"GET", "k"}) == "_\r\n");
  CHECK(talk.say({"CLIENT", "GETNAME"}) == "$2\r\nme\r\n");
  CHECK(talk.say({"INFO"}).starts_with("=30\r\ntxt:# Server"));
  CHECK(talk.say({"HELLO"}).starts_with("%7\r\n"));
  CHECK(talk.say({"HELLO", "2"}).starts_with("*14\r\n"));
  CHECK(talk.say({"GET", "k"}) == "$-1\r\n");
  CHECK(talk.say({"HELLO", "4"}) == "-NOPROTO unsupported protocol version\r\n");
  CHECK(talk.say({"HELLO", "x"}).starts_with("-ERR Protocol version is not an integer"));
  CHECK(talk.say({"HELLO", "3", "SETNAME", "a b"}).starts_with("-ERR Client names"));
  CHECK(talk.say({"HELLO", "3", "NOISE"}).starts_with("-ERR Syntax error in HELLO"));
  CHECK(talk.say({"GET", "k"}) == "$-1\r\n");
}

TEST_CASE("connection: RESET takes back what the client has set") {
  Talk talk;
  talk.say({"HELLO", "3", "SETNAME", "me"});
  CHECK(talk.say({"RESET"}) == "+RESET\r\n");
  CHECK(talk.say({"CLIENT", "GETNAME"}) == "$-1\r\n");
  CHECK(talk.say({"CLIENT", "ID"}) == ":5\r\n");
}

TEST_CASE("connection: CLIENT tells about this connection") {
  Talk talk;
  CHECK(talk.say({"CLIENT", "SETNAME", "me"}) == "+OK\r\n");
  CHECK(talk.say({"CLIENT", "SETNAME", "a\nb"}).starts_with("-ERR Client names"));
  CHECK(talk.say({"CLIENT", "SETNAME", std::string(1000, 'a')}).starts_with("-ERR Client names"));
  CHECK(talk.say({"CLIENT", "SETINFO", "LIB-NAME", "hiredis"}) == "+OK\r\n");
  CHECK(talk.say({"CLIENT", "SETINFO", "lib-ver", "1.0"}) == "+OK\r\n");
  CHECK(talk.say({"CLIENT", "SETINFO", "lib-age", "1"}) ==
        "-ERR Unrecognized option 'lib-age'\r\n");
  CHECK(talk.say({"CLIENT", "LIST"}) ==
        "$92\r\nid=5 addr=127.0.0.1:9 laddr=127.0.0.1:7001 name=me db=0 resp=2 lib-name=hiredis "
        "lib-ver=1.0\n\r\n");
  CHECK(talk.say({"CLIENT", "INFO"}) == talk.say({"CLIENT", "LIST"}));
  CHECK(talk.say({"CLIENT", "NO-EVICT", "on"}) == "+OK\r\n");
  CHECK(talk.say({"CLIENT", "NO-TOUCH", "maybe"}) == "-ERR syntax error\r\n");
  CHECK(talk.say({"CLIENT", "KILL", "x"}).starts_with("-ERR unknown subcommand"));
}

TEST_CASE("connection: CONFIG GET answers what benchmarks and clients ask for") {
  Talk talk;
  CHECK(talk.say({"CONFIG", "GET", "save"}) == "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  CHECK(talk.say({"CONFIG", "GET", "appendonly", "APPEND*"}) ==
        "*4\r\n$11\r\nappendfsync\r\n$6\r\nalways\r\n$10\r\nappendonly\r\n$3\r\nyes\r\n");
  CHECK(talk.say({"CONFIG", "GET", "nothing"}) == "*0\r\n");
  CHECK(talk.say({"CONFIG", "GET"}) == "-ERR CONFIG GET takes 1 to 64 patterns\r\n");
  CHECK(talk.say({"CONFIG", "SET", "save", "1"}).starts_with("-ERR torc has CONFIG GET only"));
  talk.say({"HELLO", "3"});
  CHECK(talk.say({"CONFIG", "GET", "save"}) == "%1\r\n$4\r\nsave\r\n$0\r\n\r\n");
}

TEST_CASE("connection: COMMAND describes the table that commands are found by") {
  Talk talk;
  const std::string size = std::to_string(commands().size());
  CHECK(talk.say({"COMMAND", "COUNT"}) == ":" + size + "\r\n");
  CHECK(talk.say({"COMMAND"}).starts_with("*" + size + "\r\n*6\r\n$4\r\nauth\r\n:-2\r\n"));
  CHECK(talk.say({"COMMAND", "INFO"}) == talk.say({"COMMAND"}));
  CHECK(talk.say({"COMMAND", "LIST"}).starts_with("*" + size + "\r\n$4\r\nauth\r\n"));
  CHECK(talk.say({"COMMAND", "DOCS", "get", "nosuch"}) ==
        "*2\r\n$3\r\nget\r\n*4\r\n$7\r\nsummary\r\n$13\r\nReads a value\r\n"
        "$5\r\ngroup\r\n$7\r\ngeneric\r\n");
  CHECK(talk.say({"COMMAND", "DOCS", "nosuch"}) == "*0\r\n");
  CHECK(talk.say({"COMMAND", "DOCS"}).starts_with("*" + std::to_string(2 * commands().size())));
  CHECK(talk.say({"COMMAND", "INFO", "get", "nosuch"}) ==
        "*2\r\n*6\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*-1\r\n");
  CHECK(talk.say({"COMMAND", "HELP"}).starts_with("-ERR unknown subcommand 'HELP'"));
}

TEST_CASE("connection: what only the Node knows is asked of the Node") {
  Talk talk;
  CHECK(talk.say({"DBSIZE"}) == ":42\r\n");
  CHECK(talk.say({"TORC.STATUS"}) == "$2\r\n{}\r\n");
  CHECK(talk.say({"INFO", "server"}) == "$26\r\n# Server\r\ntorc_version:1\r\n\r\n");
  CHECK(talk.say({"TORC.OWNERS", "k"}) ==
        "*4\r\n$9\r\npartition\r\n:7\r\n$6\r\nowners\r\n*1\r\n*8\r\n$4\r\nname\r\n$2\r\nn1\r\n"
        "$2\r\nid\r\n$2\r\na1\r\n$6\r\nclient\r\n$14\r\n127.0.0.1:7001\r\n$8\r\nliveness\r\n"
        "$5\r\nalive\r\n");
}

TEST_CASE("connection: QUIT answers, then nothing more is read") {
  Talk talk;
  talk.session.on_bytes(command({"GET", "k"}) + command({"QUIT"}) + command({"SET", "k", "v"}));
  CHECK_FALSE(talk.session.wants_bytes());
  CHECK_FALSE(talk.session.closing());  // the GET is still owed
  talk.answer_all();
  CHECK(talk.take() == "$-1\r\n+OK\r\n");
  CHECK(talk.session.closing());
  CHECK(talk.node.store.empty());
}

}  // namespace torc::resp
