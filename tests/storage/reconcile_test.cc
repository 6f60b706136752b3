#include "storage/reconcile.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <vector>

#include "tests/storage/any_record.h"

namespace torc::storage {
namespace {

constexpr Version kOld{1, NodeId{1}};
constexpr Version kNew{2, NodeId{1}};
constexpr Version kNewest{3, NodeId{1}};

std::vector<RecordView> any_records() {
  std::vector<RecordView> records;
  for (int i = *rc::gen::inRange(1, 7); i > 0; --i) records.push_back(any_record());
  return records;
}

RecordView join_all(const std::vector<RecordView>& records) {
  RecordView joined;
  for (const RecordView& record : records) joined = join(joined, record);
  return joined;
}

TEST_CASE("reconcile: the join is commutative, associative and idempotent") {
  CHECK(rc::check("laws of a semilattice", [] {
    for (int i = 0; i < 50; ++i) {
      const RecordView a = any_record();
      const RecordView b = any_record();
      const RecordView c = any_record();
      const RecordView ab = join(a, b);
      RC_ASSERT(ab == join(b, a));
      RC_ASSERT(join(ab, c) == join(a, join(b, c)));
      RC_ASSERT(join(ab, ab) == ab);
      RC_ASSERT(join(ab, a) == ab);
      RC_ASSERT(join(a, a) == join(a, RecordView{}));
    }
  }));
}

TEST_CASE(
    "reconcile: replicas that saw the same writes in any order, some twice, hold equal bytes") {
  CHECK(rc::check("any order", [] {
    const std::vector<RecordView> writes = any_records();
    std::vector<RecordView> elsewhere = writes;
    elsewhere.push_back(writes[*rc::gen::inRange<size_t>(0, writes.size())]);
    for (size_t i = elsewhere.size() - 1; i > 0; --i) {
      std::swap(elsewhere[i], elsewhere[*rc::gen::inRange<size_t>(0, i + 1)]);
    }
    RC_ASSERT(encode(join_all(writes)) == encode(join_all(elsewhere)));
  }));
}

// The newest expiry of the value that stands in the end is the one that counts, dropped ones or
// not.
TEST_CASE("reconcile: no reader can tell that dead expiries are dropped") {
  CHECK(rc::check("nothing lost", [] {
    const std::vector<RecordView> writes = any_records();
    const RecordView joined = join_all(writes);
    if (joined.tombstone) return;
    Expiry newest;
    for (const RecordView& write : writes) {
      if (write.expiry.of != joined.version) continue;
      if (std::tie(newest.version, newest.expires_at) <
          std::tie(write.expiry.version, write.expiry.expires_at)) {
        newest = write.expiry;
      }
    }
    RecordView expected = joined;
    expected.expiry = newest;
    for (uint64_t now = 0; now < 5; ++now) {
      const bool pending = joined.expiry.of > joined.version;
      RC_ASSERT(pending || joined.is_live(now) == expected.is_live(now));
    }
  }));
}

TEST_CASE("reconcile: an expiry that arrives before its value waits for it") {
  const RecordView early{.expiry = {.version = kNewest, .of = kNew, .expires_at = 10}};
  const RecordView old{.version = kOld, .value = "old"};
  const RecordView waiting = join(old, early);
  CHECK(waiting.is_live(10));
  const RecordView arrived = join(waiting, {.version = kNew, .value = "new"});
  CHECK(arrived.value == "new");
  CHECK_FALSE(arrived.is_live(10));
}

TEST_CASE("reconcile: a late expiry of an overwritten value does not hide the present one's") {
  const RecordView present{
      .version = kNew, .value = "v", .expiry = {.version = kNew, .of = kNew, .expires_at = 10}};
  const RecordView late{.expiry = {.version = kNewest, .of = kOld, .expires_at = 99}};
  CHECK(join(present, late) == present);
}

TEST_CASE("reconcile: an expiry never overwrites a value, and a newer value sheds it") {
  const RecordView value{.version = kOld, .value = "v"};
  const RecordView expiry{.expiry = {.version = kNew, .of = kOld, .expires_at = 10}};
  const RecordView both = join(expiry, value);
  CHECK(both.value == "v");
  CHECK(both.expiry == expiry.expiry);
  const RecordView overwritten = join(both, {.version = kNewest, .value = "w"});
  CHECK(overwritten == RecordView{.version = kNewest, .value = "w"});
}

}  // namespace
}  // namespace torc::storage
