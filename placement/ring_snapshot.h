// RingSnapshot: the immutable table of one epoch, partition -> preference list. Owners come first,
// in order; every listed member is distinct; a list shorter than the replication is a shortfall
// that the snapshot reports. Built once per epoch, then read from any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torc::placement {

// Position of a member in RingSnapshot::members().
using MemberIndex = uint16_t;

struct RingMember {
  std::string name;
  uint32_t weight = 1;  // 0 owns nothing
  std::string rack{};
};

class RingSnapshot {
 public:
  RingSnapshot(uint32_t partitions, uint32_t replication, std::vector<std::string> members,
               std::vector<MemberIndex> owners, std::vector<uint8_t> owner_counts,
               std::vector<uint64_t> changed_at);

  uint32_t partitions() const { return partitions_; }
  uint32_t replication() const { return replication_; }
  // Names, sorted.
  const std::vector<std::string>& members() const { return members_; }

  // The owners of a partition, the head first: one table read.
  std::span<const MemberIndex> owners(uint32_t partition) const {
    return {owners_.data() + size_t{partition} * replication_, owner_counts_[partition]};
  }
  // The newest epoch in which the partition's owners changed.
  uint64_t changed_at(uint32_t partition) const { return changed_at_[partition]; }
  // How many owners are missing over all partitions; 0 when every list is full.
  uint64_t shortfall() const;
  // How many partitions each member owns, by MemberIndex.
  std::vector<uint32_t> owned_counts() const;
  // What the table takes, but for its members' names: 9 + 2 x replication bytes for each partition.
  size_t memory_bytes() const;
  // XXH3_64 over the table (names, owners), without changed_at: equal for equal placement.
  uint64_t placement_digest() const;

  // The bytes of placement/ring.proto.
  std::string encode() const;
  // Refuses anything a valid encode() cannot have produced, and says what is wrong.
  static std::expected<RingSnapshot, std::string> decode(std::string_view bytes);

 private:
  uint32_t partitions_;
  uint32_t replication_;
  std::vector<std::string> members_;
  std::vector<MemberIndex> owners_;
  std::vector<uint8_t> owner_counts_;
  std::vector<uint64_t> changed_at_;
};

}  // namespace torc::placement
