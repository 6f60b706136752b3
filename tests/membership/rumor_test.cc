#include "membership/rumor.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

namespace torc::membership {
namespace {

MemberInfo member(uint64_t incarnation, Liveness liveness, uint16_t port = 7101) {
  MemberInfo info;
  info.id = NodeId{1};
  info.name = "n1";
  info.peer = Address::parse("127.0.0.1:" + std::to_string(port)).value();
  info.incarnation = incarnation;
  info.liveness = liveness;
  return info;
}

MemberInfo join(const MemberInfo& a, const MemberInfo& b) {
  return supersedes(b, a) ? b : a;
}

bool same(const MemberInfo& a, const MemberInfo& b) {
  return !supersedes(a, b) && !supersedes(b, a) && a.incarnation == b.incarnation &&
         a.liveness == b.liveness && a.peer == b.peer && a.name == b.name;
}

// Few values, so that ties are frequent.
rc::Gen<MemberInfo> any_rumor() {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<uint64_t>(1, 4), rc::gen::inRange(0, 4),
                     rc::gen::inRange<uint16_t>(1, 3), rc::gen::element<std::string>("a", "b")),
      [](const auto& parts) {
        MemberInfo info = member(std::get<0>(parts), static_cast<Liveness>(std::get<1>(parts)),
                                 std::get<2>(parts));
        info.name = std::get<3>(parts);
        return info;
      });
}

pb::MemberState valid_state() {
  pb::MemberState state;
  encode({member(3, Liveness::kSuspect), NodeId{9}}, &state);
  return state;
}

}  // namespace

TEST_CASE("rumor: the higher incarnation wins, then the graver liveness") {
  using enum Liveness;
  struct Case {
    uint64_t known_incarnation;
    Liveness known;
    uint64_t rumor_incarnation;
    Liveness rumor;
    bool wins;
  };
  const Case cases[] = {
      {5, kAlive, 5, kAlive, false},    // nothing new
      {5, kAlive, 5, kSuspect, true},   // an accusation needs no new incarnation
      {5, kAlive, 5, kDead, true},      //
      {5, kAlive, 5, kLeft, true},      //
      {5, kAlive, 4, kDead, false},     // of a former life
      {5, kSuspect, 5, kAlive, false},  // only a higher incarnation refutes
      {5, kSuspect, 6, kAlive, true},   //
      {5, kSuspect, 5, kDead, true},    //
      {5, kDead, 5, kSuspect, false},   //
      {5, kDead, 5, kAlive, false},     //
      {5, kDead, 6, kAlive, true},      // back
      {5, kDead, 6, kSuspect, true},    // back, and already accused again
      {5, kDead, 5, kLeft, true},       // it was no failure
      {5, kLeft, 5, kDead, false},      // silence after a goodbye is no death
      {5, kLeft, 5, kAlive, false},     //
      {5, kLeft, 6, kAlive, true},      // back
      {5, kLeft, 4, kLeft, false},      //
      {0, kDead, 1, kAlive, true},      // known only from the topology until now
  };
  for (const Case& c : cases) {
    CAPTURE(c.known_incarnation);
    CAPTURE(to_string(c.known));
    CAPTURE(c.rumor_incarnation);
    CAPTURE(to_string(c.rumor));
    CHECK(supersedes(member(c.rumor_incarnation, c.rumor), member(c.known_incarnation, c.known)) ==
          c.wins);
  }
}

TEST_CASE("rumor: a newer incarnation brings its address along") {
  const MemberInfo old_home = member(5, Liveness::kDead, 9000);
  const MemberInfo new_home = member(6, Liveness::kAlive, 7000);
  CHECK(join(old_home, new_home).peer.port == 7000);
  CHECK(join(new_home, old_home).peer.port == 7000);
}

TEST_CASE("rumor: rumors join to the same belief in any order, however often they are heard") {
  CHECK(rc::check("commutative", [] {
    const MemberInfo a = *any_rumor();
    const MemberInfo b = *any_rumor();
    RC_ASSERT(same(join(a, b), join(b, a)));
  }));
  CHECK(rc::check("associative", [] {
    const MemberInfo a = *any_rumor();
    const MemberInfo b = *any_rumor();
    const MemberInfo c = *any_rumor();
    RC_ASSERT(same(join(join(a, b), c), join(a, join(b, c))));
  }));
  CHECK(rc::check("idempotent", [] {
    const MemberInfo a = *any_rumor();
    const MemberInfo b = *any_rumor();
    RC_ASSERT(same(join(a, a), a));
    RC_ASSERT(same(join(join(a, b), b), join(a, b)));
  }));
}

TEST_CASE("rumor: what is encoded can be decoded") {
  for (const Liveness liveness :
       {Liveness::kAlive, Liveness::kSuspect, Liveness::kDead, Liveness::kLeft}) {
    pb::MemberState state;
    MemberInfo before = member(3, liveness);
    before.client = Address::parse("[::1]:7001").value();
    encode({before, NodeId{9}}, &state);
    const auto rumor = decode(state);
    REQUIRE(rumor.has_value());
    CHECK(same(rumor->member, before));
    CHECK(rumor->member.id == before.id);
    CHECK(rumor->member.client == before.client);
    CHECK(rumor->accuser == NodeId{9});
  }
}

TEST_CASE("rumor: malformed states are refused") {
  CHECK(decode(valid_state()).has_value());
  struct Case {
    const char* what;
    void (*spoil)(pb::MemberState&);
  };
  const Case cases[] = {
      {"no id", [](pb::MemberState& state) { state.set_id(0); }},
      {"long name", [](pb::MemberState& state) { state.set_name(std::string(256, 'x')); }},
      {"no peer", [](pb::MemberState& state) { state.clear_peer(); }},
      {"peer garbage", [](pb::MemberState& state) { state.set_peer("12345"); }},
      {"peer without port",
       [](pb::MemberState& state) { state.set_peer(std::string("\x7f\0\0\1\0\0", 6)); }},
      {"peer 0.0.0.0",
       [](pb::MemberState& state) { state.set_peer(std::string("\0\0\0\0\1\1", 6)); }},
      {"client garbage", [](pb::MemberState& state) { state.set_client("x"); }},
      {"incarnation 0", [](pb::MemberState& state) { state.set_incarnation(0); }},
      {"wild incarnation", [](pb::MemberState& state) { state.set_incarnation(UINT64_MAX); }},
      {"unknown liveness",
       [](pb::MemberState& state) { state.set_liveness(static_cast<pb::Liveness>(17)); }},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    pb::MemberState state = valid_state();
    c.spoil(state);
    CHECK_FALSE(decode(state).has_value());
  }
  pb::MemberState longest = valid_state();
  longest.set_name(std::string(255, 'x'));
  CHECK(decode(longest).has_value());
}

}  // namespace torc::membership
