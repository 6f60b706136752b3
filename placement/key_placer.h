// KeyPlacer: one placement algorithm over keys rather than partitions, for comparing algorithms and
// for teaching. Each key has an order of preference over the members with weight, the owner first;
// the same members in the same order give the same answers. Immutable once made; any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "placement/owner_table.h"
#include "placement/ring_hash.h"
#include "placement/ring_snapshot.h"

namespace torc::placement {

class KeyPlacer {
 public:
  using Visit = std::function<bool(MemberIndex)>;

  virtual ~KeyPlacer() = default;
  // The owner of a hashed key, by position in the list of members.
  virtual MemberIndex head(RingValue hash) const = 0;
  // Every member with weight once, in the key's order of preference, until `visit` says false.
  virtual void walk(RingValue hash, const Visit& visit) const = 0;
};

struct KeyPlacerParameters {
  RingHash hash = RingHash::kXxh3;  // of the keys, and of the tokens of the ring
  uint32_t tokens_per_weight = 128;
};

// The algorithms: jump, maglev, modulo, rendezvous, token-ring. Jump and modulo number the members
// in the order of the list, a member having as many numbers as its weight.
bool is_key_algorithm(std::string_view name);

// Refuses what the algorithm cannot hold, such as too many tokens. REQUIRES: a name from the list
// above; names unique and not empty; some member has weight.
std::expected<std::unique_ptr<KeyPlacer>, std::string> make_key_placer(
    std::string_view algorithm, std::span<const RingMember> members,
    const KeyPlacerParameters& parameters);

struct KeyPlacement {
  uint32_t replication = 1;
  bool obeys_racks = false;
  // The most a member may own, in percent of its fair share of all copies; the rest walks on. Rows
  // that cannot be filled are short.
  std::optional<uint32_t> load_percent{};
};

// The owners of every key, row by row in the order of `hashes`. Under a bound the keys come in the
// order of their hashes, so the answer does not depend on the order they are given in.
OwnerTable place_keys(const KeyPlacer& placer, std::span<const RingValue> hashes,
                      std::span<const RingMember> members, const KeyPlacement& placement);

}  // namespace torc::placement
