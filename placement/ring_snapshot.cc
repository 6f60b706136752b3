#include "placement/ring_snapshot.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "placement/claim.h"
#include "placement/hash.h"
#include "placement/ring.pb.h"

namespace torc::placement {
namespace {

void append_little_endian(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

std::unexpected<std::string> refuse(std::string why) {
  return std::unexpected("ring: " + std::move(why));
}

}  // namespace

RingSnapshot::RingSnapshot(uint32_t partitions, uint32_t replication,
                           std::vector<std::string> members, std::vector<MemberIndex> owners,
                           std::vector<uint8_t> owner_counts, std::vector<uint64_t> changed_at)
    : partitions_(partitions),
      replication_(replication),
      members_(std::move(members)),
      owners_(std::move(owners)),
      owner_counts_(std::move(owner_counts)),
      changed_at_(std::move(changed_at)) {
  assert(std::has_single_bit(partitions_) && replication_ > 0);
  assert(std::is_sorted(members_.begin(), members_.end()));
  assert(owners_.size() == size_t{partitions_} * replication_);
  assert(owner_counts_.size() == partitions_ && changed_at_.size() == partitions_);
}

uint64_t RingSnapshot::shortfall() const {
  uint64_t missing = 0;
  for (const uint8_t count : owner_counts_) missing += replication_ - count;
  return missing;
}

std::vector<uint32_t> RingSnapshot::owned_counts() const {
  std::vector<uint32_t> counts(members_.size(), 0);
  for (uint32_t p = 0; p < partitions_; ++p) {
    for (const MemberIndex owner : owners(p)) ++counts[owner];
  }
  return counts;
}

size_t RingSnapshot::memory_bytes() const {
  return owners_.size() * sizeof owners_[0] + owner_counts_.size() * sizeof owner_counts_[0] +
         changed_at_.size() * sizeof changed_at_[0];
}

uint64_t RingSnapshot::placement_digest() const {
  std::string bytes;
  append_little_endian(bytes, partitions_, 4);
  append_little_endian(bytes, replication_, 4);
  append_little_endian(bytes, members_.size(), 4);
  for (const std::string& name : members_) {
    append_little_endian(bytes, name.size(), 4);
    bytes += name;
  }
  bytes.reserve(bytes.size() + partitions_ + 2 * owners_.size());
  for (uint32_t p = 0; p < partitions_; ++p) {
    append_little_endian(bytes, owner_counts_[p], 1);
    for (const MemberIndex owner : owners(p)) append_little_endian(bytes, owner, 2);
  }
  return hash_bytes(bytes);
}

std::string RingSnapshot::encode() const {
  pb::Ring ring;
  ring.set_partitions(partitions_);
  ring.set_replication(replication_);
  for (const std::string& name : members_) ring.add_members(name);
  ring.mutable_owners()->Reserve(static_cast<int>(owners_.size()));
  for (uint32_t p = 0; p < partitions_; ++p) {
    for (const MemberIndex owner : owners(p)) ring.add_owners(owner + 1u);
    for (uint32_t i = owner_counts_[p]; i < replication_; ++i) ring.add_owners(0);
  }
  ring.mutable_changed_at()->Add(changed_at_.begin(), changed_at_.end());
  return ring.SerializeAsString();
}

std::expected<RingSnapshot, std::string> RingSnapshot::decode(std::string_view bytes) {
  pb::Ring ring;
  if (!ring.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return refuse("not a Ring message");
  }
  const uint32_t partitions = ring.partitions();
  const uint32_t replication = ring.replication();
  if (!std::has_single_bit(partitions) || partitions > kPartitionsMax) {
    return refuse(std::to_string(partitions) + " partitions");
  }
  if (replication < 1 || replication > kReplicationMax) {
    return refuse("replication " + std::to_string(replication));
  }
  const size_t member_count = static_cast<size_t>(ring.members_size());
  if (member_count > kMembersMax) return refuse(std::to_string(member_count) + " members");
  std::vector<std::string> members(ring.members().begin(), ring.members().end());
  for (size_t m = 0; m < member_count; ++m) {
    if (members[m].empty()) return refuse("a member without a name");
    if (m > 0 && members[m - 1] >= members[m]) {
      return refuse("members out of order at '" + members[m] + "'");
    }
  }
  if (static_cast<size_t>(ring.owners_size()) != size_t{partitions} * replication) {
    return refuse(std::to_string(ring.owners_size()) + " owners for " + std::to_string(partitions) +
                  " x " + std::to_string(replication));
  }
  if (static_cast<uint32_t>(ring.changed_at_size()) != partitions) {
    return refuse(std::to_string(ring.changed_at_size()) + " epochs for " +
                  std::to_string(partitions) + " partitions");
  }

  std::vector<MemberIndex> owners(size_t{partitions} * replication, 0);
  std::vector<uint8_t> counts(partitions, 0);
  for (uint32_t p = 0; p < partitions; ++p) {
    const uint32_t* row = ring.owners().data() + size_t{p} * replication;
    MemberIndex* out = owners.data() + size_t{p} * replication;
    const auto broken = [p](const char* what) {
      return refuse("partition " + std::to_string(p) + " " + what);
    };
    for (uint32_t i = 0; i < replication; ++i) {
      if (row[i] == 0) continue;
      if (row[i] > member_count) return broken("names an owner that is not listed");
      if (counts[p] != i) return broken("has an owner behind a gap");
      if (std::find(row, row + i, row[i]) != row + i) return broken("names an owner twice");
      out[counts[p]++] = static_cast<MemberIndex>(row[i] - 1);
    }
  }
  RingSnapshot snapshot(partitions, replication, std::move(members), std::move(owners),
                        std::move(counts), {ring.changed_at().begin(), ring.changed_at().end()});
  // Unknown fields, repeated ones and unusual encodings would make two tables that read the same
  // differ.
  if (snapshot.encode() != bytes) return refuse("not in its one encoding");
  return snapshot;
}

}  // namespace torc::placement
