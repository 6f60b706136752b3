// Rumor: what somebody says of one member, the unit of gossip. Rumors about one member are totally
// ordered and the greatest wins, so that in whatever order they arrive all daemons end with the
// same one. Plain values and pure functions.
#pragma once

#include <cstddef>
#include <optional>

#include "membership/gossip.h"
#include "membership/gossip.pb.h"

namespace torc::membership {

// Longer names are malformed.
constexpr size_t kNameBytesMax = 255;
// Higher incarnations are malformed: there must always be room above for a refutation.
constexpr uint64_t kIncarnationMax = uint64_t{1} << 62;

struct Rumor {
  MemberInfo member;  // `since` means nothing here
  NodeId accuser;     // who says suspect or dead; zero otherwise
};

// True when `rumor` is news to whoever believes `known`, both about one member: the higher
// incarnation wins, then the graver liveness (alive < suspect < dead < left: who said goodbye is
// not called dead for its silence). Between rumors that differ only in name or addresses, which no
// honest member causes, the greater bytes win, so that all still agree.
bool supersedes(const MemberInfo& rumor, const MemberInfo& known);

void encode(const Rumor& rumor, pb::MemberState* state);
// Nullopt for an id of zero, a name too long, an unusable address, an unknown liveness or an
// incarnation out of range (it starts at 1).
std::optional<Rumor> decode(const pb::MemberState& state);

}  // namespace torc::membership
