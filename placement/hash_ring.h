// HashRing: consistent hashing over keys, the exact ring: every node has tokens on a circle, and a
// key belongs to the first token at or after its hash, past the end to the first. The same nodes
// give the same ring whatever the order in which they came, and a change moves keys only to or from
// the node it concerns. One thread changes a ring; any thread reads its snapshots.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "placement/ring_hash.h"

namespace torc::placement {

struct HashRingParameters {
  RingHash hash = RingHash::kXxh3;
  uint32_t tokens_per_weight = 128;  // V
  char separator = '#';              // tokens are hashed from ID SEPARATOR NUMBER
};

// The first nodes met on the walk from a key, and how many are missing.
struct Replicas {
  std::vector<std::string_view> nodes;  // distinct; views into the snapshot
  uint32_t shortfall = 0;
};

// What a reader holds: never changed after it was built.
class HashRingSnapshot {
 public:
  // Position of a node in nodes().
  using NodeIndex = uint32_t;

  struct Node {
    std::string id;
    uint32_t weight = 0;  // 0: its tokens were placed by hand
    bool operator==(const Node&) const = default;
  };
  struct Token {
    RingValue position;
    NodeIndex node;
    uint32_t number;  // of the node's own tokens; (id, number) settles a tie of positions
  };

  const HashRingParameters& parameters() const { return parameters_; }
  // Sorted by id.
  const std::vector<Node>& nodes() const { return nodes_; }
  size_t token_count() const { return keys_.size(); }
  // REQUIRES: index < token_count(). Clockwise.
  Token token(size_t index) const;

  // The index of the token that owns a hash. REQUIRES: token_count() > 0.
  size_t token_at(RingValue hash) const;
  // Nothing when the ring is empty.
  std::optional<NodeIndex> owner_index(RingValue hash) const;
  std::optional<std::string_view> owner_of_hash(RingValue hash) const;
  std::optional<std::string_view> owner(std::string_view key) const;

  // Calls `visit(NodeIndex)` for each distinct node on the clockwise walk from a hash, until it
  // returns false or every node was met.
  template <typename Visit>
  void walk(RingValue hash, Visit visit) const;
  Replicas replicas_of_hash(RingValue hash, uint32_t count) const;
  Replicas replicas(std::string_view key, uint32_t count) const;

  // The part of the circle each node owns, by NodeIndex; the parts add up to 1.
  std::vector<double> shares() const;

 private:
  friend class HashRing;

  // Called once, when the tokens are in place.
  void build_index();
  size_t first_at_or_after(uint64_t key) const;

  HashRingParameters parameters_;
  std::vector<Node> nodes_;
  // The tokens, column by column, so that the search touches nothing but positions: the low halves
  // of the positions, or for a wide hash the high halves with the low ones in rest_.
  std::vector<uint64_t> keys_;
  std::vector<uint64_t> rest_;
  std::vector<NodeIndex> owners_;
  std::vector<uint32_t> numbers_;
  // Where the search begins: by the top bits of a key, the first token that has them or greater
  // ones. Hashes are spread evenly, so a part of the circle holds a token or two.
  std::vector<uint32_t> starts_;
  int index_shift_ = 0;
};

class HashRing {
 public:
  using Snapshot = std::shared_ptr<const HashRingSnapshot>;
  using Result = std::expected<void, std::string>;

  // REQUIRES: tokens_per_weight > 0.
  explicit HashRing(HashRingParameters parameters = {});
  HashRing(const HashRing& other) : snapshot_(other.snapshot()) {}
  HashRing& operator=(const HashRing& other) {
    if (this != &other) publish(other.snapshot());
    return *this;
  }

  // weight x V tokens. Refuses an empty or known id, a weight below 1, and more tokens than
  // kHashRingTokensMax; the ring is then as it was.
  Result add(std::string_view id, int64_t weight = 1);
  // Tokens at the places given, in any order; at least one.
  Result add_at(std::string_view id, std::span<const RingValue> positions);
  // False when there is no such node. Takes away the tokens that carry this node, and no others.
  bool remove(std::string_view id);
  // The old tokens go and the new ones come in one snapshot.
  Result reweight(std::string_view id, int64_t weight);

  // The ring as it is now. It stays as it is for as long as it is held.
  Snapshot snapshot() const { return std::atomic_load(&snapshot_); }

 private:
  std::expected<std::vector<HashRingSnapshot::Token>, std::string> tokens_for(
      const HashRingSnapshot& ring, std::string_view id, int64_t weight) const;
  Snapshot with(const HashRingSnapshot& ring, HashRingSnapshot::Node node,
                std::vector<HashRingSnapshot::Token> tokens) const;
  Snapshot without(const HashRingSnapshot& ring, HashRingSnapshot::NodeIndex node) const;

  void publish(Snapshot next) { std::atomic_store(&snapshot_, std::move(next)); }

  // Read and written by the free functions only: the std::atomic<shared_ptr> of GCC 12 lets go of
  // its lock in load() without ordering that read before the next store.
  Snapshot snapshot_;
};

// All nodes of one ring together; bounds the time and memory of a change.
constexpr size_t kHashRingTokensMax = 4'000'000;

template <typename Visit>
void HashRingSnapshot::walk(RingValue hash, Visit visit) const {
  if (keys_.empty()) return;
  std::vector<bool> met(nodes_.size(), false);
  size_t left = nodes_.size();
  const size_t start = token_at(hash);
  for (size_t i = start; left > 0;) {
    const NodeIndex node = owners_[i];
    if (!met[node]) {
      met[node] = true;
      --left;
      if (!visit(node)) return;
    }
    if (++i == keys_.size()) i = 0;
  }
}

}  // namespace torc::placement
