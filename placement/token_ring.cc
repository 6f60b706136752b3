#include "placement/token_ring.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <string>
#include <tuple>

#include "placement/hash.h"

namespace torc::placement {
namespace {

struct Token {
  uint64_t hash;
  uint32_t number;
  MemberIndex member;  // members are sorted by name, so this orders as the name does
};

std::vector<Token> sorted_tokens(std::span<const RingMember> members) {
  size_t count = 0;
  for (const RingMember& member : members) count += size_t{member.weight} * kTokensPerWeight;
  assert(count <= kTokensMax);
  std::vector<Token> tokens;
  tokens.reserve(count);
  std::string text;
  for (size_t m = 0; m < members.size(); ++m) {
    text = members[m].name + "#";
    const size_t prefix = text.size();
    for (uint32_t i = 0; i < members[m].weight * kTokensPerWeight; ++i) {
      char digits[10];
      const char* end = std::to_chars(digits, digits + sizeof digits, i).ptr;
      text.resize(prefix);
      text.append(digits, static_cast<size_t>(end - digits));
      tokens.push_back({hash_bytes(text), i, static_cast<MemberIndex>(m)});
    }
  }
  std::sort(tokens.begin(), tokens.end(), [](const Token& a, const Token& b) {
    return std::tie(a.hash, a.member, a.number) < std::tie(b.hash, b.member, b.number);
  });
  return tokens;
}

// The members in the order a walk from some point of the circle first meets them. Stepping the
// point back over a token moves the token's member to the front, so all walks together cost one
// step per token, however unequal the weights.
class WalkOrder {
 public:
  explicit WalkOrder(size_t members) : next_(members + 1, end()), previous_(members + 1, end()) {
    next_[head()] = previous_[head()] = static_cast<uint32_t>(head());
  }

  void move_to_front(uint32_t member) {
    if (next_[member] != end()) {
      next_[previous_[member]] = next_[member];
      previous_[next_[member]] = previous_[member];
    }
    const auto front = next_[head()];
    next_[member] = front;
    previous_[member] = static_cast<uint32_t>(head());
    previous_[front] = member;
    next_[head()] = member;
  }

  uint32_t first() const { return next_[head()]; }
  uint32_t after(uint32_t member) const { return next_[member]; }
  bool is_last(uint32_t member) const { return member == head(); }

 private:
  static constexpr uint32_t end() { return UINT32_MAX; }  // not in the list
  size_t head() const { return next_.size() - 1; }

  std::vector<uint32_t> next_;
  std::vector<uint32_t> previous_;
};

}  // namespace

OwnerTable claim_token_ring(const PolicyInput& input, std::span<const uint32_t> owned_max) {
  assert(std::has_single_bit(input.partitions));
  OwnerTable table(input.partitions, input.replication);
  const std::vector<Token> tokens = sorted_tokens(input.members);

  // Once round the circle, so that walks which pass its end are known from the start.
  WalkOrder order(input.members.size());
  for (size_t t = tokens.size(); t-- > 0;) order.move_to_front(tokens[t].member);

  std::vector<uint32_t> left(owned_max.begin(), owned_max.end());
  if (left.empty()) left.assign(input.members.size(), UINT32_MAX);
  std::vector<uint32_t> taken(input.racks.count, 0);
  size_t t = tokens.size();  // the walk begins at token t
  const int shift = 64 - std::countr_zero(input.partitions);
  for (uint32_t p = input.partitions; p-- > 0;) {
    const uint64_t last_hash =
        p + 1 == input.partitions ? UINT64_MAX : (uint64_t{p + 1} << shift) - 1;
    while (t > 0 && tokens[t - 1].hash >= last_hash) order.move_to_front(tokens[--t].member);

    for (uint32_t m = order.first();
         table.owner_counts[p] < input.racks.row_owners && !order.is_last(m); m = order.after(m)) {
      if (left[m] == 0 || taken[input.racks.of[m]] == input.racks.per_rack_max) continue;
      --left[m];
      ++taken[input.racks.of[m]];
      table.append(p, static_cast<MemberIndex>(m));
    }
    for (const MemberIndex owner : table.row(p)) taken[input.racks.of[owner]] = 0;
  }
  return table;
}

}  // namespace torc::placement
