#include "membership/rumor.h"

#include <tuple>

namespace torc::membership {
namespace {

auto precedence(const MemberInfo& member) {
  return std::tie(member.incarnation, member.liveness, member.peer, member.client, member.name);
}

std::optional<Liveness> decode_liveness(pb::Liveness liveness) {
  switch (liveness) {
    case pb::ALIVE:
      return Liveness::kAlive;
    case pb::SUSPECT:
      return Liveness::kSuspect;
    case pb::DEAD:
      return Liveness::kDead;
    case pb::LEFT:
      return Liveness::kLeft;
    default:  // from a newer program
      return std::nullopt;
  }
}

pb::Liveness encode_liveness(Liveness liveness) {
  switch (liveness) {
    case Liveness::kAlive:
      return pb::ALIVE;
    case Liveness::kSuspect:
      return pb::SUSPECT;
    case Liveness::kDead:
      return pb::DEAD;
    case Liveness::kLeft:
      break;
  }
  return pb::LEFT;
}

}  // namespace

const char* to_string(Liveness liveness) {
  switch (liveness) {
    case Liveness::kAlive:
      return "alive";
    case Liveness::kSuspect:
      return "suspect";
    case Liveness::kDead:
      return "dead";
    case Liveness::kLeft:
      break;
  }
  return "left";
}

bool supersedes(const MemberInfo& rumor, const MemberInfo& known) {
  return precedence(rumor) > precedence(known);
}

void encode(const Rumor& rumor, pb::MemberState* state) {
  const MemberInfo& member = rumor.member;
  state->set_id(member.id.value);
  state->set_name(member.name);
  state->set_peer(member.peer.to_bytes());
  state->set_client(member.client.to_bytes());
  state->set_incarnation(member.incarnation);
  state->set_liveness(encode_liveness(member.liveness));
  state->set_accuser(rumor.accuser.value);
}

std::optional<Rumor> decode(const pb::MemberState& state) {
  const std::optional<Liveness> liveness = decode_liveness(state.liveness());
  Rumor rumor;
  rumor.member.peer = Address::from_bytes(state.peer());
  rumor.member.client = Address::from_bytes(state.client());
  const bool client_is_garbage = !rumor.member.client && !state.client().empty();
  if (state.id() == 0 || state.name().size() > kNameBytesMax || !rumor.member.peer ||
      rumor.member.peer.is_unspecified() || client_is_garbage || !liveness ||
      state.incarnation() == 0 || state.incarnation() > kIncarnationMax) {
    return std::nullopt;
  }
  rumor.member.id = NodeId{state.id()};
  rumor.member.name = state.name();
  rumor.member.incarnation = state.incarnation();
  rumor.member.liveness = *liveness;
  rumor.accuser = NodeId{state.accuser()};
  return rumor;
}

}  // namespace torc::membership
