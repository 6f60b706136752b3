// The transfer plan between two tables: which partitions change owners, who gains and who loses
// them, and which new owner replaces which old one. Moving the lead within the same owners moves no
// data and is not in it. Pure; for whoever streams the data, and for whoever wants to know the
// price.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "placement/ring_snapshot.h"

namespace torc::placement {

// One replica: "" on one side when a row grows or shrinks.
struct Replacement {
  std::string from;
  std::string to;
  bool operator==(const Replacement&) const = default;
};

struct PartitionTransfer {
  uint32_t partition;
  // An owner that comes where one that goes had stood replaces it; after these, the others are
  // paired in order.
  std::vector<Replacement> replacements;

  std::vector<std::string> gainers() const;
  std::vector<std::string> losers() const;
};

struct MemberTransfer {
  std::string name;
  uint64_t in = 0;   // partitions gained
  uint64_t out = 0;  // partitions lost
};

struct TransferPlan {
  std::vector<PartitionTransfer> partitions;  // that change, ascending
  std::vector<MemberTransfer> members;        // of either table, sorted by name
  uint64_t moved = 0;                         // replicas gained in all
  uint64_t lost = 0;
};

// An error when the tables differ in their number of partitions.
std::expected<TransferPlan, std::string> transfer_plan(const RingSnapshot& before,
                                                       const RingSnapshot& after);

}  // namespace torc::placement
