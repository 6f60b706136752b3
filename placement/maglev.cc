#include "placement/maglev.h"

#include <algorithm>
#include <cassert>
#include <string>

#include "placement/hash.h"

namespace torc::placement {
namespace {

// One member's walk over the table.
struct Permutation {
  uint64_t next;
  uint64_t skip;
  uint64_t credit = 0;  // of turns, in units of 1 / the heaviest weight
};

}  // namespace

std::vector<MemberIndex> maglev_table(std::span<const RingMember> members, uint32_t size) {
  uint64_t heaviest = 0;
  std::vector<Permutation> permutations;
  for (const RingMember& member : members) {
    heaviest = std::max<uint64_t>(heaviest, member.weight);
    permutations.push_back(
        {hash_pair("offset", member.name) % size, hash_pair("skip", member.name) % (size - 1) + 1});
  }
  assert(heaviest > 0);

  constexpr MemberIndex kFree = UINT16_MAX;
  std::vector<MemberIndex> table(size, kFree);
  // Ends: in every round the heaviest member takes an entry, and its permutation visits them all.
  for (uint32_t taken = 0; taken < size;) {
    for (size_t m = 0; m < members.size() && taken < size; ++m) {
      Permutation& permutation = permutations[m];
      permutation.credit += members[m].weight;
      if (permutation.credit < heaviest) continue;
      permutation.credit -= heaviest;
      while (table[permutation.next] != kFree) {
        permutation.next = (permutation.next + permutation.skip) % size;
      }
      table[permutation.next] = static_cast<MemberIndex>(m);
      ++taken;
    }
  }
  return table;
}

}  // namespace torc::placement
