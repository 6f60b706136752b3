#include "placement/key_placer.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "placement/fixed_log.h"
#include "placement/hash.h"
#include "placement/hash_ring.h"
#include "placement/jump_hash.h"
#include "placement/maglev.h"
#include "placement/rack_rule.h"
#include "placement/rendezvous.h"
#include "placement/share.h"

namespace torc::placement {
namespace {

// Together they bound the memory of the algorithms that give a member several places.
constexpr uint64_t kSlotsMax = 4'000'000;

// Algorithms that pick one of many places, and go on to the places behind it.
class SlotPlacer : public KeyPlacer {
 public:
  SlotPlacer(std::vector<MemberIndex> slots, size_t members)
      : slots_(std::move(slots)), members_(members) {}

  MemberIndex head(RingValue hash) const override { return slots_[slot_of(hash)]; }

  void walk(RingValue hash, const Visit& visit) const override {
    std::vector<bool> met(members_, false);
    const size_t start = slot_of(hash);
    for (size_t step = 0; step < slots_.size(); ++step) {
      const MemberIndex member = slots_[(start + step) % slots_.size()];
      if (met[member]) continue;
      met[member] = true;
      if (!visit(member)) return;
    }
  }

 protected:
  virtual size_t slot_of(RingValue hash) const = 0;
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  std::vector<MemberIndex> slots_;
  size_t members_;
};

// Modulo, and Maglev over its table.
class RemainderPlacer : public SlotPlacer {
 public:
  using SlotPlacer::SlotPlacer;

 private:
  size_t slot_of(RingValue hash) const override { return hash.modulo(slot_count()); }
};

class JumpPlacer : public SlotPlacer {
 public:
  using SlotPlacer::SlotPlacer;

 private:
  size_t slot_of(RingValue hash) const override {
    return jump_hash(hash.high > 0 ? hash.high : hash.low, slot_count());
  }
};

class RingPlacer : public KeyPlacer {
 public:
  RingPlacer(HashRing::Snapshot ring, std::vector<MemberIndex> members)
      : ring_(std::move(ring)), members_(std::move(members)) {}

  // Some member has weight, so the ring has tokens.
  MemberIndex head(RingValue hash) const override {
    return members_[ring_->owner_index(hash).value_or(0)];
  }

  void walk(RingValue hash, const Visit& visit) const override {
    ring_->walk(hash, [&](auto node) { return visit(members_[node]); });
  }

 private:
  HashRing::Snapshot ring_;
  std::vector<MemberIndex> members_;  // by node of the ring
};

class RendezvousPlacer : public KeyPlacer {
 public:
  explicit RendezvousPlacer(std::span<const RingMember> members)
      : members_(members.begin(), members.end()) {}

  MemberIndex head(RingValue hash) const override {
    const auto candidates = score_all(hash);
    return std::max_element(candidates.begin(), candidates.end(), is_worse)->member;
  }

  void walk(RingValue hash, const Visit& visit) const override {
    auto candidates = score_all(hash);
    std::make_heap(candidates.begin(), candidates.end(), is_worse);
    for (auto end = candidates.end(); end != candidates.begin(); --end) {
      std::pop_heap(candidates.begin(), end, is_worse);
      if (!visit((end - 1)->member)) return;
    }
  }

 private:
  struct Candidate {
    RendezvousScore score;
    MemberIndex member;
    std::string_view name;
  };

  static bool is_worse(const Candidate& a, const Candidate& b) {
    if (b.score.beats(a.score)) return true;
    return !a.score.beats(b.score) && a.name > b.name;
  }

  static void append(std::string& frame, uint64_t value) {
    for (size_t i = 0; i < 8; ++i) frame.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::vector<Candidate> score_all(RingValue hash) const {
    // hash_pair(key, name), with the frame of the key laid out once for all members.
    std::string frame;
    append(frame, 16);
    append(frame, hash.low);
    append(frame, hash.high);
    const size_t prefix = frame.size();
    std::vector<Candidate> candidates;
    candidates.reserve(members_.size());
    for (size_t m = 0; m < members_.size(); ++m) {
      const RingMember& member = members_[m];
      if (member.weight == 0) continue;
      frame.resize(prefix);
      append(frame, member.name.size());
      frame += member.name;
      const uint64_t pair = hash_bytes(frame);
      candidates.push_back(
          {{negative_log2(pair), member.weight, pair}, static_cast<MemberIndex>(m), member.name});
    }
    return candidates;
  }

  std::vector<RingMember> members_;
};

using Made = std::expected<std::unique_ptr<KeyPlacer>, std::string>;

Made make_ring(std::span<const RingMember> members, const KeyPlacerParameters& parameters) {
  HashRing ring({parameters.hash, parameters.tokens_per_weight, '#'});
  for (const RingMember& member : members) {
    if (member.weight == 0) continue;
    if (auto added = ring.add(member.name, member.weight); !added) {
      return std::unexpected(added.error());
    }
  }
  const HashRing::Snapshot snapshot = ring.snapshot();
  std::vector<MemberIndex> by_node;
  for (const auto& node : snapshot->nodes()) {
    const auto member = std::find_if(members.begin(), members.end(),
                                     [&](const RingMember& m) { return m.name == node.id; });
    by_node.push_back(static_cast<MemberIndex>(member - members.begin()));
  }
  return std::make_unique<RingPlacer>(snapshot, std::move(by_node));
}

std::expected<std::vector<MemberIndex>, std::string> slots_by_weight(
    std::span<const RingMember> members) {
  uint64_t count = 0;
  for (const RingMember& member : members) count += member.weight;
  if (count > kSlotsMax) {
    return std::unexpected("the weights add up to " + std::to_string(count) + "; the most is " +
                           std::to_string(kSlotsMax));
  }
  std::vector<MemberIndex> slots;
  slots.reserve(count);
  for (size_t m = 0; m < members.size(); ++m) {
    slots.insert(slots.end(), members[m].weight, static_cast<MemberIndex>(m));
  }
  return slots;
}

}  // namespace

bool is_key_algorithm(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"jump", "maglev", "modulo", "rendezvous",
                                                      "token-ring"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Made make_key_placer(std::string_view algorithm, std::span<const RingMember> members,
                     const KeyPlacerParameters& parameters) {
  assert(is_key_algorithm(algorithm) && members.size() < kNobody);
  if (algorithm == "token-ring") return make_ring(members, parameters);
  if (algorithm == "rendezvous") return std::make_unique<RendezvousPlacer>(members);
  if (algorithm == "maglev") {
    return std::make_unique<RemainderPlacer>(maglev_table(members), members.size());
  }
  auto slots = slots_by_weight(members);
  if (!slots) return std::unexpected(std::move(slots.error()));
  if (algorithm == "jump") return std::make_unique<JumpPlacer>(*std::move(slots), members.size());
  return std::make_unique<RemainderPlacer>(*std::move(slots), members.size());
}

OwnerTable place_keys(const KeyPlacer& placer, std::span<const RingValue> hashes,
                      std::span<const RingMember> members, const KeyPlacement& placement) {
  const auto rows = static_cast<uint32_t>(hashes.size());
  OwnerTable table(rows, placement.replication);
  const RackRule racks(members, placement.replication);
  std::vector<uint64_t> left(members.size(), UINT64_MAX);
  if (placement.load_percent) {
    const std::vector<Share> shares = fair_shares(members, racks, rows);
    for (size_t m = 0; m < members.size(); ++m) {
      left[m] = shares[m].bound(*placement.load_percent);
    }
  }
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0u);
  if (placement.load_percent) {
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(hashes[a], a) < std::tie(hashes[b], b);
    });
  }

  std::vector<uint32_t> in_rack(racks.count, 0);
  for (const uint32_t row : order) {
    if (placement.replication == 1 && !placement.load_percent) {
      table.append(row, placer.head(hashes[row]));
      continue;
    }
    placer.walk(hashes[row], [&](MemberIndex member) {
      uint32_t& rack = in_rack[racks.of[member]];
      const bool rack_is_full = placement.obeys_racks && rack == racks.per_rack_max;
      if (left[member] > 0 && !rack_is_full) {
        --left[member];
        ++rack;
        table.append(row, member);
      }
      return table.owner_counts[row] < placement.replication;
    });
    for (const MemberIndex member : table.row(row)) in_rack[racks.of[member]] = 0;
  }
  return table;
}

}  // namespace torc::placement
