// The golden tables: policy, members, weights, racks and partitions, and the digest of what they
// give. A digest that changes means that data would move on upgrade; such a change needs a new
// policy version instead. Read by the tests, and by a program built with another compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "placement/claim.h"

namespace torc::placement {

struct GoldenTable {
  const char* policy;
  const char* story;
  uint64_t digest;
};

struct GoldenStory {
  const char* name;
  uint32_t partitions;
  uint32_t replication;
  std::vector<std::vector<RingMember>> epochs;  // each claimed from the one before
};

inline std::vector<RingMember> golden_members(int count) {
  std::vector<RingMember> members;
  for (int m = 1; m <= count; ++m) members.push_back({"storage-" + std::to_string(m), 1, ""});
  return members;
}

inline std::vector<GoldenStory> golden_stories() {
  const std::vector<RingMember> racked{{"a", 1, "r1"}, {"b", 2, "r1"}, {"c", 1, "r2"},
                                       {"d", 3, "r2"}, {"e", 1, "r3"}, {"spare", 0, "r4"}};
  auto moved_rack = racked;
  moved_rack[1].rack = "r3";
  moved_rack.push_back({"f#1", 2, "r1"});
  return {
      {"one", 16, 3, {golden_members(1)}},
      {"three", 4096, 3, {golden_members(3)}},
      {"weights and racks", 1024, 3, {racked}},
      {"racks change", 1024, 3, {racked, moved_rack, racked}},
      {"growth", 4096, 3, {golden_members(1), golden_members(5), golden_members(100)}},
      {"large", 65'536, 2, {golden_members(30), golden_members(31)}},
  };
}

inline const GoldenTable kGoldenTables[] = {
#include "tests/placement/golden_digests.inc"
};

inline std::optional<uint64_t> golden_digest(const std::string& policy, const GoldenStory& story) {
  std::optional<RingSnapshot> ring;
  uint64_t epoch = 0;
  for (const auto& members : story.epochs) {
    auto made = next_table(ring ? &*ring : nullptr, members,
                           {policy, story.partitions, story.replication, ++epoch});
    if (!made) return std::nullopt;
    ring = *std::move(made);
  }
  return ring->placement_digest();
}

}  // namespace torc::placement
