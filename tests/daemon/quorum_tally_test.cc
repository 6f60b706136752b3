#include "daemon/node/quorum_tally.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

namespace torc::node {
namespace {

using State = QuorumTally::State;

// Plays a story: digits agree, letters (a = 0) fail.
QuorumTally play(uint32_t replicas, uint32_t needed, const std::string& story) {
  QuorumTally tally(replicas, needed);
  for (const char word : story) {
    if (word >= 'a') {
      tally.fail(static_cast<uint32_t>(word - 'a'));
    } else {
      tally.agree(static_cast<uint32_t>(word - '0'));
    }
  }
  return tally;
}

TEST_CASE("quorum tally: it is met by enough replicas and lost when too few are left") {
  struct Row {
    uint32_t replicas;
    uint32_t needed;
    const char* story;
    State state;
  };
  const Row rows[] = {
      {3, 2, "", State::kPending},
      {3, 2, "0", State::kPending},
      {3, 2, "02", State::kMet},
      {3, 2, "a", State::kPending},
      {3, 2, "ab", State::kLost},
      {3, 2, "0b", State::kPending},
      {3, 2, "0bc", State::kLost},
      {3, 2, "0b2", State::kMet},
      {3, 3, "a", State::kLost},
      {3, 1, "ab", State::kPending},
      {3, 1, "abc", State::kLost},
      {1, 1, "0", State::kMet},
      {2, 3, "", State::kLost},
      {0, 1, "", State::kLost},
      {5, 3, "01cd4", State::kMet},
      {3, 2, "00", State::kPending},
      {3, 2, "aa", State::kPending},
      {3, 2, "a0", State::kPending},  // a later word replaces nothing:
      {3, 2, "a01", State::kPending},
      {3, 2, "0ab", State::kPending},
      {3, 2, "01ab", State::kMet},
  };
  for (const Row& row : rows) {
    CAPTURE(row.replicas);
    CAPTURE(row.needed);
    CAPTURE(row.story);
    CHECK(play(row.replicas, row.needed, row.story).state() == row.state);
  }
}

TEST_CASE("quorum tally: it tells who agreed and who failed") {
  const QuorumTally tally = play(4, 2, "0c0");
  CHECK(tally.agreed(0));
  CHECK(tally.failed(2));
  CHECK_FALSE(tally.agreed(1));
  CHECK_FALSE(tally.failed(1));
  CHECK(tally.agreed_count() == 1);
  CHECK(tally.agreed_set() == 0b0001);
  CHECK(tally.failed_set() == 0b0100);
}

TEST_CASE("quorum tally: it never goes back from met or lost") {
  CHECK(rc::check([] {
    const auto replicas = *rc::gen::inRange<uint32_t>(1, 8);
    QuorumTally tally(replicas, *rc::gen::inRange<uint32_t>(1, 8));
    State last = tally.state();
    for (int i = 0; i < 20; ++i) {
      const auto replica = *rc::gen::inRange<uint32_t>(0, replicas);
      if (*rc::gen::arbitrary<bool>()) {
        tally.agree(replica);
      } else {
        tally.fail(replica);
      }
      if (last != State::kPending) RC_ASSERT(tally.state() == last);
      last = tally.state();
    }
  }));
}

}  // namespace
}  // namespace torc::node
