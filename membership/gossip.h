// Gossip: who is alive, by SWIM over datagrams with push-pull over streams. It learns members from
// the topology (add_member) and from rumors, decides nothing but liveness, and never touches an
// epoch. Driven by one Node; nothing is called back before a handler returns except through
// GossipEnv.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membership/address.h"
#include "membership/gossip.pb.h"
#include "membership/instant.h"
#include "membership/node_id.h"

namespace torc::membership {

enum class Liveness { kAlive, kSuspect, kDead, kLeft };

const char* to_string(Liveness liveness);

// One member as this daemon knows it.
struct MemberInfo {
  NodeId id;
  std::string name;
  Address peer;
  Address client;
  uint64_t incarnation = 0;
  Liveness liveness = Liveness::kDead;
  Instant since;  // when liveness last changed
};

// memberlist's LAN defaults (hashicorp/memberlist, config.go, DefaultLANConfig).
struct GossipConfig {
  Duration probe_interval = std::chrono::seconds(1);
  Duration probe_timeout = std::chrono::milliseconds(500);
  uint32_t indirect_probes = 3;
  uint32_t suspicion_multiplier = 4;
  Duration gossip_interval = std::chrono::milliseconds(200);
  uint32_t gossip_nodes = 3;
  uint32_t retransmit_multiplier = 4;
  Duration push_pull_interval = std::chrono::seconds(30);
  Duration redial_interval = std::chrono::seconds(30);
  size_t packet_bytes_max =
      1300;  // of the GossipPacket; leaves room for envelope and frame in 1400
};

// Since the start.
struct GossipCounters {
  uint64_t malformed = 0;     // packets, states and rumors ignored for what they contain
  uint64_t refutations = 0;   // of what was said of this daemon
  uint64_t suspicions = 0;    // probes that ended in silence
  uint64_t nacks_missed = 0;  // helpers of such probes that did not answer either
};

class GossipEnv {
 public:
  virtual ~GossipEnv() = default;
  virtual void send_packet(const Address& to, const pb::GossipPacket& packet) = 0;
  virtual void send_push_pull(const Address& to, const pb::PushPull& state) = 0;
  virtual uint64_t random() = 0;
  // A member was learnt, or its liveness or an address changed.
  virtual void on_member_changed(const MemberInfo& member) = 0;
  // This daemon's own id is said to live at another address, with an incarnation that no earlier
  // life of this daemon had: another process runs under it.
  virtual void on_twin(const Address& peer) = 0;
};

class Gossip {
 public:
  // `self.incarnation` comes from the restart counter, so that it is above anything ever said of
  // `self`.
  Gossip(GossipConfig config, MemberInfo self, GossipEnv& env);
  ~Gossip();

  void start(Instant now);
  // A member named by the topology. Unknown ones start dead and are dialled at once.
  void add_member(const MemberInfo& member, Instant now);
  // Forgets a member the topology removed; rumors about it are ignored from then on.
  void remove_member(NodeId id);
  // What every packet says of the topology.
  void set_topology(uint64_t epoch, uint64_t digest);

  // `from` and `sender` are the envelope's. Malformed contents are ignored and counted.
  void on_packet(NodeId from, const Address& sender, const pb::GossipPacket& packet, Instant now);
  void on_push_pull(NodeId from, const Address& sender, const pb::PushPull& state, Instant now);
  void on_time(Instant now);
  Instant next_deadline() const;

  // Tells everybody that this daemon stops on purpose; packets go out before it returns.
  void leave(Instant now);

  // Nullptr when unknown. Valid until the next non-const call.
  const MemberInfo* find(NodeId id) const;
  // Every known member but self, ordered by id.
  std::vector<MemberInfo> members() const;
  const MemberInfo& self() const;
  const GossipCounters& counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace torc::membership
