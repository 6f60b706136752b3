// PlacementScenario: what `torc placement compare` compares: members, a change of them, and what is
// placed on them. Read from the text of the flags and checked; an error is one line that names the
// flag or the member at fault. A plain value.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "placement/ring_hash.h"
#include "placement/ring_snapshot.h"

namespace torc::ctl {

// The flags as typed; empty: not given.
struct PlacementFlags {
  std::string policies = "all";
  std::string nodes{};
  std::string names{};
  std::string weights{};
  std::string racks{};
  std::string replication{};
  std::string partitions{};
  std::string vnodes{};
  std::string hash{};
  std::string keys{};
  std::string add{};
  std::string remove{};
  std::string reweight{};
  std::string replace{};
};

struct PlacementScenario {
  std::vector<std::string> policies;
  // In the order they joined, which jump and modulo go by.
  std::vector<placement::RingMember> before;
  std::vector<placement::RingMember> after;
  std::string change;  // in words; empty: none
  uint32_t replication = 3;
  uint32_t partitions = 4096;
  uint32_t vnodes = 128;
  placement::RingHash hash = placement::RingHash::kXxh3;
  std::optional<uint32_t> keys;

  // What is placed: keys or partitions.
  uint32_t rows() const { return keys.value_or(partitions); }
};

constexpr uint32_t kCompareNodes = 10;
constexpr uint32_t kCompareKeysMax = 10'000'000;
constexpr uint32_t kCompareVnodesMax = 100'000;

std::expected<PlacementScenario, std::string> read_scenario(const PlacementFlags& flags);

}  // namespace torc::ctl
