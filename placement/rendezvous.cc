#include "placement/rendezvous.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "placement/fixed_log.h"
#include "placement/hash.h"

namespace torc::placement {
namespace {

__extension__ using Wide = unsigned __int128;

// hash_pair(partition, name), with the frame of the name laid out once for all partitions.
class PairHasher {
 public:
  explicit PairHasher(std::string_view name) {
    append(sizeof(uint32_t), 8);
    append(0, kPartitionBytes);
    append(name.size(), 8);
    frame_ += name;
  }

  uint64_t operator()(uint32_t partition) {
    char* const bytes = frame_.data() + 8;
    for (size_t i = 0; i < kPartitionBytes; ++i) bytes[i] = static_cast<char>(partition >> (8 * i));
    return hash_bytes(frame_);
  }

 private:
  static constexpr size_t kPartitionBytes = 4;

  void append(uint64_t value, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) frame_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string frame_;
};

RendezvousScore score(uint64_t hash, uint32_t weight) {
  return {negative_log2(hash), weight, hash};
}

struct Candidate {
  RendezvousScore score;
  MemberIndex member;
};

bool is_better(const Candidate& a, const Candidate& b) {
  if (a.score.beats(b.score)) return true;
  return !b.score.beats(a.score) && a.member < b.member;
}

// The best candidates of one partition under the rack rule, best first. Offering all members in any
// order leaves what walking down their ranking would take: both rules together form a matroid,
// where dropping the worst of a set that is too large loses nothing.
class Shortlist {
 public:
  Shortlist(const RackRule& racks) : racks_(racks) {}

  void clear() { best_.clear(); }
  const std::vector<Candidate>& best() const { return best_; }

  void offer(uint64_t hash, uint32_t weight, MemberIndex member) {
    const bool full = best_.size() == racks_.row_owners;
    if (full && is_hopeless(hash, weight, best_.back().score)) return;
    const Candidate candidate{score(hash, weight), member};
    if (full && !is_better(candidate, best_.back())) return;
    const uint32_t rack = racks_.of[candidate.member];
    uint32_t in_rack = 0;
    size_t worst_in_rack = 0;
    for (size_t i = 0; i < best_.size(); ++i) {
      if (racks_.of[best_[i].member] != rack) continue;
      ++in_rack;
      worst_in_rack = i;
    }
    if (in_rack == racks_.per_rack_max) {
      if (!is_better(candidate, best_[worst_in_rack])) return;
      best_.erase(best_.begin() + static_cast<std::ptrdiff_t>(worst_in_rack));
    } else if (full) {
      best_.pop_back();
    }
    best_.insert(std::upper_bound(best_.begin(), best_.end(), candidate, is_better), candidate);
  }

 private:
  // Spares most candidates the logarithm: -log2(u) >= (1 - u) / ln 2 > (1 - u) x 23/16, and the
  // cost is not off by as much as 2^-48.
  static bool is_hopeless(uint64_t hash, uint32_t weight, const RendezvousScore& last) {
    const uint64_t least = ((UINT64_MAX - hash) >> (64 - kLogFractionBits)) / 16 * 23;
    return Wide{least} * last.weight > (Wide{last.cost} + 256) * weight + Wide{256} * last.weight;
  }

  const RackRule& racks_;
  std::vector<Candidate> best_;
};

std::vector<PairHasher> make_hashers(std::span<const RingMember> members) {
  std::vector<PairHasher> hashers;
  hashers.reserve(members.size());
  for (const RingMember& member : members) hashers.emplace_back(member.name);
  return hashers;
}

}  // namespace

bool RendezvousScore::beats(const RendezvousScore& other) const {
  const Wide mine = Wide{cost} * other.weight;
  const Wide theirs = Wide{other.cost} * weight;
  return mine != theirs ? mine < theirs : hash > other.hash;
}

RendezvousScore rendezvous_score(uint32_t partition, const RingMember& member) {
  assert(member.weight > 0);
  return score(PairHasher(member.name)(partition), member.weight);
}

std::vector<MemberIndex> rendezvous_ranking(std::span<const RingMember> members,
                                            uint32_t partition) {
  std::vector<Candidate> candidates;
  for (size_t m = 0; m < members.size(); ++m) {
    if (members[m].weight == 0) continue;
    candidates.push_back({rendezvous_score(partition, members[m]), static_cast<MemberIndex>(m)});
  }
  std::sort(candidates.begin(), candidates.end(), is_better);
  std::vector<MemberIndex> ranking;
  for (const Candidate& candidate : candidates) ranking.push_back(candidate.member);
  return ranking;
}

OwnerTable claim_rendezvous(const PolicyInput& input, std::span<const uint32_t> owned_max) {
  OwnerTable table(input.partitions, input.replication);
  std::vector<PairHasher> hashers = make_hashers(input.members);
  std::vector<uint32_t> left(owned_max.begin(), owned_max.end());
  if (left.empty()) left.assign(input.members.size(), UINT32_MAX);
  Shortlist shortlist(input.racks);
  for (uint32_t p = 0; p < input.partitions; ++p) {
    shortlist.clear();
    for (size_t m = 0; m < input.members.size(); ++m) {
      if (input.members[m].weight == 0 || left[m] == 0) continue;
      shortlist.offer(hashers[m](p), input.members[m].weight, static_cast<MemberIndex>(m));
    }
    for (const Candidate& candidate : shortlist.best()) {
      --left[candidate.member];
      table.append(p, candidate.member);
    }
  }
  return table;
}

OwnerTable claim_rendezvous_rack_first(const PolicyInput& input) {
  OwnerTable table(input.partitions, input.replication);
  std::vector<PairHasher> hashers = make_hashers(input.members);
  std::vector<std::vector<MemberIndex>> in_rack(input.racks.count);
  std::vector<uint64_t> weights(input.racks.count, 0);
  for (size_t m = 0; m < input.members.size(); ++m) {
    if (input.members[m].weight == 0) continue;
    in_rack[input.racks.of[m]].push_back(static_cast<MemberIndex>(m));
    weights[input.racks.of[m]] += input.members[m].weight;
  }
  // A rack may be named like a member; behind "rack/" the two still get independent hashes.
  std::vector<PairHasher> rack_hashers;
  for (const auto& rack : in_rack) rack_hashers.emplace_back("rack/" + input.members[rack[0]].rack);

  std::vector<Candidate> ranking;
  std::vector<std::vector<Candidate>> ranked(input.racks.count);
  for (uint32_t p = 0; p < input.partitions; ++p) {
    ranking.clear();
    for (uint32_t rack = 0; rack < input.racks.count; ++rack) {
      ranking.push_back({score(rack_hashers[rack](p), static_cast<uint32_t>(weights[rack])),
                         static_cast<MemberIndex>(rack)});
      ranked[rack].clear();
    }
    std::sort(ranking.begin(), ranking.end(), is_better);
    for (uint32_t round = 0; table.owner_counts[p] < input.racks.row_owners; ++round) {
      for (const Candidate& rack : ranking) {
        if (table.owner_counts[p] == input.racks.row_owners) break;
        std::vector<Candidate>& nodes = ranked[rack.member];
        if (nodes.empty()) {
          for (const MemberIndex m : in_rack[rack.member]) {
            nodes.push_back({score(hashers[m](p), input.members[m].weight), m});
          }
          const size_t useful = std::min<size_t>(nodes.size(), input.racks.per_rack_max);
          std::partial_sort(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(useful),
                            nodes.end(), is_better);
        }
        if (round < nodes.size()) table.append(p, nodes[round].member);
      }
    }
  }
  return table;
}

}  // namespace torc::placement
