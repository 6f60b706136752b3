// BroadcastQueue: the rumors this daemon still passes on. It holds at most one rumor per member,
// the newest, and each is sent a limited number of times, the least sent first. Used only by
// Gossip; the order of sending depends on nothing but the order of calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membership/gossip.pb.h"
#include "membership/node_id.h"
#include "membership/rumor.h"

namespace torc::membership {

// How often one rumor is sent: multiplier * ceil(log10(members + 1)), after hashicorp/memberlist
// (util.go, retransmitLimit).
uint32_t transmits_max(uint32_t multiplier, size_t members);

class BroadcastQueue {
 public:
  // Takes the place of any rumor about the same member.
  void push(const Rumor& rumor);
  void remove(NodeId id);

  // Appends rumors to `packet` while its serialized size stays within `packet_bytes_max`, and
  // counts each as sent once; those sent `transmits_max` times are done with. A rumor about a
  // member that the packet already speaks of is left out.
  void fill(pb::GossipPacket& packet, size_t packet_bytes_max, uint32_t transmits_max);

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t transmits;
    uint64_t sequence;  // of push()
    size_t bytes;       // what it adds to a packet
    pb::MemberState state;
  };
  static bool goes_before(const Entry& a, const Entry& b);

  std::vector<Entry> entries_;  // in the order of sending
  uint64_t pushed_ = 0;
};

}  // namespace torc::membership
