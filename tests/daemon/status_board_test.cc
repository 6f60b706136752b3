#include "daemon/shell/status_board.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "daemon/shell/metrics_text.h"

namespace torc::shell {

using namespace std::chrono_literals;

TEST_CASE("status board: a loop that has left no word yet is not alive") {
  StatusBoard board([] {});
  CHECK_FALSE(board.is_alive(1h));
  CHECK(board.snapshot() == nullptr);
  board.publish({});
  CHECK(board.is_alive(1h));
  CHECK_FALSE(board.is_alive(0s));
}

TEST_CASE("status board: a question wakes the loop and gets the loop's answer") {
  std::promise<void> woken;
  StatusBoard board([&] { woken.set_value(); });
  std::thread loop([&] {
    woken.get_future().wait();
    for (const auto& question : board.take_questions()) question->set_value("{}");
  });
  const StatusBoard::Answer answer = board.ask_status(1h);
  loop.join();
  REQUIRE(answer);
  CHECK(*answer == "{}");
}

TEST_CASE("status board: a loop that does not answer costs its asker only the wait") {
  StatusBoard board([] {});
  const StatusBoard::Answer answer = board.ask_status(1ms);
  REQUIRE_FALSE(answer);
  CHECK(answer.error() == "the daemon did not answer in time");
  // The late answer finds nobody and does no harm.
  for (const auto& question : board.take_questions()) question->set_value("{}");
}

TEST_CASE("status board: questions that nobody takes do not pile up") {
  StatusBoard board([] {});
  for (size_t i = 0; i < StatusBoard::kQuestionsMax; ++i) CHECK_FALSE(board.ask_status(0ms));
  CHECK(board.ask_status(1h).error() == "too many questions wait");
  CHECK(board.take_questions().size() == StatusBoard::kQuestionsMax);
}

TEST_CASE("status board: when the loop ends nobody is kept waiting and nobody is let in") {
  std::promise<void> woken;
  StatusBoard board([&] { woken.set_value(); });
  std::thread loop([&] {
    woken.get_future().wait();
    board.close();
  });
  CHECK(board.ask_status(1h).error() == "the daemon is stopping");
  loop.join();
  CHECK(board.ask_status(1h).error() == "the daemon is stopping");
}

TEST_CASE("metrics: every family is torc's own, has its help, and tells the snapshot's number") {
  MetricsSnapshot snapshot;
  snapshot.node.epoch = 7;
  snapshot.node.ready = true;
  snapshot.clients.connected = 3;
  snapshot.peers.frame_errors[static_cast<size_t>(node::FrameError::kChecksum)] = 5;
  snapshot.storage.writes.batches = 11;
  const std::string text = metrics_text(snapshot);
  for (const char* line : {"\ntorc_epoch 7\n", "\ntorc_ready 1\n", "\ntorc_clients_connected 3\n",
                           "\ntorc_peer_frame_errors_total{error=\"a wrong checksum\"} 5\n",
                           "\ntorc_storage_batches_total{lane=\"writes\"} 11\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }

  size_t helps = 0, types = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    helps += line.starts_with("# HELP torc_");
    types += line.starts_with("# TYPE torc_");
    CHECK((line.starts_with("#") || line.starts_with("torc_")));
    begin = end + 1;
  }
  CHECK(helps > 30);
  CHECK(helps == types);
}

}  // namespace torc::shell
