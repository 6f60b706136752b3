#include "daemon/node/deadlines.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <map>

namespace torc::node {
namespace {

Instant at(int64_t ms) {
  return Instant(std::chrono::milliseconds(ms));
}

std::vector<uint64_t> pop_all(Deadlines& deadlines, Instant now) {
  std::vector<uint64_t> cookies;
  Deadlines::Due due;
  while (deadlines.pop(now, due)) cookies.push_back(due.cookie);
  return cookies;
}

TEST_CASE("deadlines: timers fire in the order of their deadlines, equal ones as they were set") {
  Deadlines deadlines;
  CHECK(deadlines.next() == kNever);
  deadlines.set(at(20), Part::kStatus, 1);
  deadlines.set(at(10), Part::kClock, 2);
  deadlines.set(at(20), Part::kStatus, 3);
  deadlines.set(at(10), Part::kClock, 4);
  CHECK(deadlines.next() == at(10));

  CHECK(pop_all(deadlines, at(9)).empty());
  CHECK(pop_all(deadlines, at(10)) == std::vector<uint64_t>{2, 4});
  CHECK(pop_all(deadlines, at(99)) == std::vector<uint64_t>{1, 3});
  CHECK(deadlines.next() == kNever);
}

TEST_CASE("deadlines: a fired timer tells whose it is") {
  Deadlines deadlines;
  const auto handle = deadlines.set(at(1), Part::kJoiner, 7);
  Deadlines::Due due{};
  REQUIRE(deadlines.pop(at(1), due));
  CHECK(due.handle == handle);
  CHECK(due.part == Part::kJoiner);
  CHECK(due.cookie == 7);
}

TEST_CASE("deadlines: a cancelled timer does not fire and leaves nothing behind") {
  Deadlines deadlines;
  for (int i = 0; i < 100'000; ++i) deadlines.cancel(deadlines.set(at(i), Part::kCoordinator, 0));
  CHECK(deadlines.size() == 0);
  CHECK(deadlines.next() == kNever);
}

TEST_CASE("deadlines: an old handle cancels nobody else's timer") {
  Deadlines deadlines;
  const auto old = deadlines.set(at(1), Part::kClock, 1);
  CHECK(pop_all(deadlines, at(1)).size() == 1);
  deadlines.set(at(2), Part::kClock, 2);  // stands where the old one stood
  deadlines.cancel(old);
  deadlines.cancel(0);
  deadlines.cancel(~Deadlines::Handle{0});
  CHECK(pop_all(deadlines, at(2)) == std::vector<uint64_t>{2});
}

TEST_CASE("deadlines: any mix of setting, cancelling and firing keeps the order of a sorted list") {
  CHECK(rc::check([](const std::vector<std::pair<uint8_t, uint8_t>>& steps) {
    Deadlines deadlines;
    std::map<std::pair<Instant, uint64_t>, Deadlines::Handle> model;  // by (deadline, cookie)
    std::vector<Deadlines::Handle> handles;
    uint64_t cookie = 0;
    for (const auto [action, value] : steps) {
      if (action % 4 < 2) {
        ++cookie;
        handles.push_back(deadlines.set(at(value), Part::kStatus, cookie));
        model[{at(value), cookie}] = handles.back();
      } else if (action % 4 == 2 && !handles.empty()) {
        const auto handle = handles[value % handles.size()];
        deadlines.cancel(handle);
        std::erase_if(model, [&](const auto& entry) { return entry.second == handle; });
      } else {
        Deadlines::Due due{};
        const bool expected = !model.empty() && model.begin()->first.first <= at(value);
        RC_ASSERT(deadlines.pop(at(value), due) == expected);
        if (expected) {
          RC_ASSERT(due.cookie == model.begin()->first.second);
          model.erase(model.begin());
        }
      }
      RC_ASSERT(deadlines.size() == model.size());
      RC_ASSERT(deadlines.next() == (model.empty() ? kNever : model.begin()->first.first));
    }
  }));
}

}  // namespace
}  // namespace torc::node
