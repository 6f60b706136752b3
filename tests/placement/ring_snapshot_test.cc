#include "placement/ring_snapshot.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <functional>
#include <string>
#include <vector>

#include "placement/claim.h"
#include "placement/ring.pb.h"

namespace torc::placement {
namespace {

RingSnapshot small_ring() {
  // Two partitions, two replicas; the second partition is short of one.
  return RingSnapshot(2, 2, {"a", "b", "c"}, {2, 0, 1, 0}, {2, 1}, {1, 7});
}

TEST_CASE(
    "ring snapshot: it answers who owns a partition, how much each owns and what is missing") {
  const RingSnapshot ring = small_ring();
  CHECK(ring.owners(0).size() == 2);
  CHECK(ring.owners(0)[0] == 2);
  CHECK(ring.owners(0)[1] == 0);
  CHECK(ring.owners(1).size() == 1);
  CHECK(ring.owners(1)[0] == 1);
  CHECK(ring.shortfall() == 1);
  CHECK(ring.owned_counts() == std::vector<uint32_t>{1, 1, 1});
  CHECK(ring.changed_at(0) == 1);
  CHECK(ring.changed_at(1) == 7);
}

TEST_CASE("ring snapshot: 4096 partitions of three owners take 60 KiB") {
  const auto ring = next_table(nullptr, std::vector<RingMember>{{"a"}}, {"modulo", 4096, 3, 1});
  REQUIRE(ring.has_value());
  CHECK(ring->memory_bytes() == 4096 * (9 + 2 * 3));
}

TEST_CASE("ring snapshot: encoding and decoding give back the same table and the same bytes") {
  CHECK(rc::check([] {
    std::vector<RingMember> members;
    const int count = *rc::gen::inRange(1, 6);
    for (int m = 0; m < count; ++m) members.push_back({"n" + std::to_string(m)});
    const auto made = next_table(
        nullptr, members,
        {"token-ring", uint32_t{1} << *rc::gen::inRange(0, 7),
         static_cast<uint32_t>(*rc::gen::inRange(1, 5)), *rc::gen::inRange<uint64_t>(1, 1u << 30)});
    RC_ASSERT(made.has_value());
    const auto read = RingSnapshot::decode(made->encode());
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->encode() == made->encode());
    RC_ASSERT(read->placement_digest() == made->placement_digest());
    RC_ASSERT(read->shortfall() == made->shortfall());
  }));
}

TEST_CASE("ring snapshot: the placement digest covers names and owners, not epochs") {
  const uint64_t digest = small_ring().placement_digest();
  CHECK(RingSnapshot(2, 2, {"a", "b", "c"}, {2, 0, 1, 0}, {2, 1}, {9, 9}).placement_digest() ==
        digest);
  CHECK(RingSnapshot(2, 2, {"a", "b", "d"}, {2, 0, 1, 0}, {2, 1}, {1, 7}).placement_digest() !=
        digest);
  CHECK(RingSnapshot(2, 2, {"a", "b", "c"}, {0, 2, 1, 0}, {2, 1}, {1, 7}).placement_digest() !=
        digest);
  CHECK(RingSnapshot(2, 2, {"a", "b", "c"}, {2, 0, 1, 0}, {2, 2}, {1, 7}).placement_digest() !=
        digest);
}

TEST_CASE("ring snapshot: bytes that no table encodes to are refused with a reason") {
  using Change = std::function<void(pb::Ring&)>;
  const std::vector<std::pair<const char*, Change>> broken{
      {"3 partitions", [](pb::Ring& r) { r.set_partitions(3); }},
      {"0 partitions", [](pb::Ring& r) { r.set_partitions(0); }},
      {"131072 partitions", [](pb::Ring& r) { r.set_partitions(131'072); }},
      {"replication 0", [](pb::Ring& r) { r.set_replication(0); }},
      {"replication 17", [](pb::Ring& r) { r.set_replication(17); }},
      {"4 owners for 2 x 3", [](pb::Ring& r) { r.set_replication(3); }},
      {"out of order at 'a'", [](pb::Ring& r) { r.set_members(1, "a"); }},
      {"without a name", [](pb::Ring& r) { r.set_members(0, ""); }},
      {"4097 members",
       [](pb::Ring& r) {
         for (int m = 0; m < 4094; ++m) r.add_members("x");
       }},
      {"not listed", [](pb::Ring& r) { r.set_owners(0, 4); }},
      {"twice", [](pb::Ring& r) { r.set_owners(1, 3); }},
      {"behind a gap", [](pb::Ring& r) { r.set_owners(0, 0); }},
      {"5 owners", [](pb::Ring& r) { r.add_owners(1); }},
      {"1 epochs", [](pb::Ring& r) { r.mutable_changed_at()->RemoveLast(); }},
  };
  for (const auto& [reason, change] : broken) {
    pb::Ring ring;
    REQUIRE(ring.ParseFromString(small_ring().encode()));
    change(ring);
    const auto read = RingSnapshot::decode(ring.SerializeAsString());
    REQUIRE_MESSAGE(!read.has_value(), reason);
    CHECK_MESSAGE(read.error().find(reason) != std::string::npos, read.error());
  }
  CHECK_FALSE(RingSnapshot::decode("").has_value());
  CHECK_FALSE(RingSnapshot::decode("garbage").has_value());
  // An unknown field, and a field given twice: readable, yet not what encode() writes.
  CHECK_FALSE(RingSnapshot::decode(small_ring().encode() + "\x50\x01").has_value());
  CHECK_FALSE(RingSnapshot::decode("\x08\x01" + small_ring().encode()).has_value());
}

TEST_CASE("ring snapshot: no bytes make the decoder crash") {
  CHECK(rc::check([] {
    std::string bytes = small_ring().encode();
    const int edits = *rc::gen::inRange(1, 4);
    for (int i = 0; i < edits; ++i) {
      bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    }
    const auto read = RingSnapshot::decode(bytes);
    if (read) RC_ASSERT(read->encode() == bytes);
  }));
}

}  // namespace
}  // namespace torc::placement
