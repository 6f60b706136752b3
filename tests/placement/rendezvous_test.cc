#include "placement/rendezvous.h"

#include <cmath>

#include "placement/fixed_log.h"
#include "placement/hash.h"
#include "tests/placement/table_fixture.h"

namespace torc::placement {
namespace {

RendezvousScore score_of(double u, uint32_t weight = 1) {
  const auto hash = static_cast<uint64_t>(u * 0x1p64);
  return {negative_log2(hash), weight, hash};
}

std::vector<std::string> ranking(const Members& members, uint32_t partition) {
  std::vector<std::string> out;
  for (const MemberIndex m : rendezvous_ranking(members, partition)) {
    out.push_back(members[m].name);
  }
  return out;
}

ClaimParameters rendezvous(uint32_t partitions, uint32_t replication = 3) {
  return {"rendezvous", partitions, replication, 1};
}

TEST_CASE("rendezvous: scores A .42, B .91, C .37 -> B; rank B, D, A, C") {
  std::vector<std::pair<std::string, RendezvousScore>> nodes{
      {"A", score_of(.42)}, {"B", score_of(.91)}, {"C", score_of(.37)}, {"D", score_of(.77)}};
  std::sort(nodes.begin(), nodes.end(),
            [](const auto& a, const auto& b) { return a.second.beats(b.second); });
  std::string order;
  for (const auto& node : nodes) order += node.first;
  CHECK(order == "BDAC");
}

TEST_CASE("rendezvous: the owners are the first of the ranking by H(partition, member)") {
  const Members members = by_name(numbered(9));
  const RingSnapshot ring = next(nullptr, members, rendezvous(64));
  for (uint32_t p = 0; p < 64; ++p) {
    auto ranked = ranking(members, p);
    CHECK(ranked.size() == 9);
    ranked.resize(3);
    CHECK(names(ring, p) == ranked);
  }
}

TEST_CASE("rendezvous: framed pairs, the partition as four bytes little-endian, then the name") {
  const RendezvousScore score = rendezvous_score(0x01020304, {"node", 1, ""});
  CHECK(score.hash == hash_pair(std::string_view("\x04\x03\x02\x01", 4), "node"));
}

TEST_CASE("rendezvous: scores are 64-bit; ties go by name") {
  const RendezvousScore one = score_of(.5), same = score_of(.5);
  CHECK_FALSE(one.beats(same));
  CHECK_FALSE(same.beats(one));
  CHECK(score_of(.5).hash == uint64_t{1} << 63);
}

TEST_CASE("rendezvous: join: moves only if the new member wins; the order of the others stays") {
  CHECK(rc::check([] {
    auto members = by_name(*any_members(9, 1, 3));
    auto more = members;
    more.push_back({"zz-newcomer", static_cast<uint32_t>(*rc::gen::inRange(1, 4)), "rack0"});
    for (uint32_t p = 0; p < 32; ++p) {
      auto ranked = ranking(more, p);
      std::erase(ranked, "zz-newcomer");
      RC_ASSERT(ranked == ranking(members, p));
    }
    const RingSnapshot before = next(nullptr, members, rendezvous(64));
    const RingSnapshot after = next(nullptr, more, rendezvous(64));
    RC_ASSERT(moved(before, after) == after.owned_counts().back());
  }));
}

TEST_CASE("rendezvous: leave: only the departed member's partitions move") {
  Members members = numbered(10);
  const RingSnapshot before = next(nullptr, members, rendezvous(512));
  members.erase(members.begin() + 4);
  const RingSnapshot after = next(nullptr, members, rendezvous(512));
  uint64_t had = 0;
  for (uint32_t p = 0; p < 512; ++p) {
    auto was = names(before, p);
    had += std::erase(was, "m5");
    auto is = names(after, p);
    is.resize(was.size());
    CHECK(is == was);
  }
  CHECK(moved(before, after) == had);
}

TEST_CASE("rendezvous: renaming a member is a membership change") {
  const RingSnapshot before = next(nullptr, {{"a"}, {"b"}, {"c"}, {"d"}}, rendezvous(256, 1));
  const RingSnapshot after = next(nullptr, {{"a"}, {"b"}, {"c"}, {"e"}}, rendezvous(256, 1));
  CHECK(moved(before, after) > 64);
}

TEST_CASE("rendezvous: weights: -ln(u)/w gives .166/.334/.500, score x weight .055/.306/.639") {
  const Members members{{"a", 1, ""}, {"b", 2, ""}, {"c", 3, ""}};
  const RingSnapshot ring = next(nullptr, members, rendezvous(65'536, 1));
  std::vector<double> right(3, 0), wrong(3, 0);
  for (size_t m = 0; m < 3; ++m) right[m] = ring.owned_counts()[m] / 65'536.0;
  for (uint32_t p = 0; p < 65'536; ++p) {
    size_t best = 0;
    double most = 0;
    for (size_t m = 0; m < 3; ++m) {
      const double product =
          static_cast<double>(rendezvous_score(p, members[m]).hash) * members[m].weight;
      if (product > most) {
        most = product;
        best = m;
      }
    }
    wrong[best] += 1 / 65'536.0;
  }
  const double want_right[] = {1 / 6.0, 2 / 6.0, 3 / 6.0};
  const double want_wrong[] = {.055, .306, .639};
  for (size_t m = 0; m < 3; ++m) {
    CHECK(std::abs(right[m] - want_right[m]) < .006);
    CHECK(std::abs(wrong[m] - want_wrong[m]) < .006);
  }
}

TEST_CASE("rendezvous: a weight is changed in steps, and each step moves data one way only") {
  Members members = numbered(8, "m", 10);
  RingSnapshot ring = next(nullptr, members, rendezvous(1024));
  for (const uint32_t weight : {12u, 15u, 20u}) {
    members[2].weight = weight;
    const RingSnapshot heavier = next(nullptr, members, rendezvous(1024));
    CHECK(moved(ring, heavier) == heavier.owned_counts()[2] - ring.owned_counts()[2]);
    ring = heavier;
  }
}

// The share of partitions whose three copies all stand in one rack.
double in_one_rack(const std::vector<int>& racks, bool blind, const char* policy) {
  Members members, placed;
  for (size_t rack = 0; rack < racks.size(); ++rack) {
    for (int n = 0; n < racks[rack]; ++n) {
      members.push_back(
          {"node-" + std::to_string(members.size() + 1), 1, "rack" + std::to_string(rack)});
    }
  }
  placed = members;
  for (RingMember& member : placed) {
    if (blind) member.rack.clear();
  }
  const RingSnapshot ring = next(nullptr, placed, {policy, 65'536, 3, 1});
  std::map<std::string, std::string> rack_of;
  for (const RingMember& member : members) rack_of[member.name] = member.rack;
  int count = 0;
  for (uint32_t p = 0; p < ring.partitions(); ++p) {
    std::set<std::string> used;
    for (const auto& name : names(ring, p)) used.insert(rack_of[name]);
    count += used.size() == 1;
  }
  return count / 65'536.0;
}

TEST_CASE("rendezvous: racks of 6, 3 and 1: blind, 16.6 % in one rack; of 8, 1, 1: 47.7 %") {
  CHECK(std::abs(in_one_rack({6, 3, 1}, true, "rendezvous") - .175) < .012);
  CHECK(std::abs(in_one_rack({8, 1, 1}, true, "rendezvous") - .467) < .012);
  for (const char* policy : {"rendezvous", "rendezvous-rack-first"}) {
    CHECK(in_one_rack({6, 3, 1}, false, policy) == 0);
    CHECK(in_one_rack({8, 1, 1}, false, policy) == 0);
  }
}

TEST_CASE("rendezvous: under racks the owners are those met walking down the ranking") {
  CHECK(rc::check([] {
    const auto members = by_name(*any_members(10, 4, 3));
    const auto replication = static_cast<uint32_t>(*rc::gen::inRange(1, 6));
    const RackRule racks(members, replication);
    const RingSnapshot ring = next(nullptr, members, rendezvous(32, replication));
    for (uint32_t p = 0; p < 32; ++p) {
      std::vector<MemberIndex> walked;
      std::vector<uint32_t> in_rack(racks.count, 0);
      for (const MemberIndex m : rendezvous_ranking(members, p)) {
        if (walked.size() == replication || in_rack[racks.of[m]] == racks.per_rack_max) continue;
        ++in_rack[racks.of[m]];
        walked.push_back(m);
      }
      const auto row = ring.owners(p);
      RC_ASSERT(walked == std::vector<MemberIndex>(row.begin(), row.end()));
    }
  }));
}

TEST_CASE(
    "rendezvous: rack first: a rack gets its weight's share of the heads, its best member first") {
  const Members members{{"a", 1, "r1"}, {"b", 1, "r1"}, {"c", 2, "r2"}, {"d", 4, "r3"}};
  const RingSnapshot ring = next(nullptr, members, {"rendezvous-rack-first", 16'384, 2, 1});
  CHECK(broken_row(ring, members).empty());
  std::vector<double> heads(4, 0);
  for (uint32_t p = 0; p < 16'384; ++p) {
    heads[ring.owners(p)[0]] += 1 / 16'384.0;
    const auto ranked = rendezvous_ranking(members, p);
    const auto a_before_b =
        std::find(ranked.begin(), ranked.end(), 0) < std::find(ranked.begin(), ranked.end(), 1);
    for (const MemberIndex owner : ring.owners(p)) {
      if (owner < 2) CHECK(owner == (a_before_b ? 0 : 1));
    }
  }
  CHECK(std::abs(heads[0] + heads[1] - .25) < .01);
  CHECK(std::abs(heads[2] - .25) < .01);
  CHECK(std::abs(heads[3] - .5) < .01);
}

TEST_CASE("fixed log: -log2 of a hash is right to 2^-50 of libm's, and exact at powers of two") {
  CHECK(negative_log2(UINT64_MAX) == 0);
  for (int k = 0; k < 64; ++k) {
    const uint64_t hash = (uint64_t{1} << k) - 1;
    CHECK(negative_log2(hash) == uint64_t(64 - k) << kLogFractionBits);
  }
  CHECK(rc::check([](uint64_t hash) {
    const double u = static_cast<double>(hash) / 0x1p64 + 0x1p-64;
    const double got = static_cast<double>(negative_log2(hash)) / 0x1p56;
    RC_ASSERT(std::abs(got + std::log2(u)) < 0x1p-45);
  }));
}

TEST_CASE("fixed log: a greater hash never costs more, at the ends of all table steps too") {
  const auto falls = [](uint64_t hash) {
    // A step of 2^-50 of the value outweighs the error.
    const uint64_t more = hash + (hash >> 44) + 1;
    return more < hash || negative_log2(more) <= negative_log2(hash);
  };
  for (uint64_t top = 256; top < 512; ++top) {
    const uint64_t edge = top << 55;
    CHECK((falls(edge - 2) && falls(edge - 1) && falls(edge) && falls(edge + 1)));
  }
  for (uint64_t top = 65'536; top < 131'072; ++top) {
    const uint64_t edge = top << 47;
    REQUIRE((falls(edge - 2) && falls(edge - 1) && falls(edge)));
  }
}

}  // namespace
}  // namespace torc::placement
