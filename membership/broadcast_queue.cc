#include "membership/broadcast_queue.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <utility>

namespace torc::membership {
namespace {

// One byte of tag and the length stand before each embedded message.
size_t embedded_bytes(const pb::MemberState& state) {
  const size_t bytes = state.ByteSizeLong();
  return 1 + google::protobuf::io::CodedOutputStream::VarintSize64(bytes) + bytes;
}

bool speaks_of(const pb::GossipPacket& packet, uint64_t id) {
  const auto& rumors = packet.rumors();
  return std::any_of(rumors.begin(), rumors.end(),
                     [id](const pb::MemberState& rumor) { return rumor.id() == id; });
}

}  // namespace

uint32_t transmits_max(uint32_t multiplier, size_t members) {
  uint32_t magnitude = 0;  // ceil(log10(members + 1))
  for (size_t power = 1; power < members + 1; power *= 10) ++magnitude;
  return multiplier * std::max(magnitude, 1U);
}

// The newer first among those sent equally often.
bool BroadcastQueue::goes_before(const Entry& a, const Entry& b) {
  return a.transmits != b.transmits ? a.transmits < b.transmits : a.sequence > b.sequence;
}

void BroadcastQueue::push(const Rumor& rumor) {
  remove(rumor.member.id);
  Entry entry{0, pushed_++, 0, {}};
  encode(rumor, &entry.state);
  entry.bytes = embedded_bytes(entry.state);
  entries_.insert(entries_.begin(), std::move(entry));
}

void BroadcastQueue::remove(NodeId id) {
  std::erase_if(entries_, [id](const Entry& entry) { return entry.state.id() == id.value; });
}

void BroadcastQueue::fill(pb::GossipPacket& packet, size_t packet_bytes_max,
                          uint32_t transmits_max) {
  size_t bytes = packet.ByteSizeLong();
  const int spoken = packet.rumors_size();
  for (Entry& entry : entries_) {
    if (bytes + entry.bytes > packet_bytes_max) continue;
    if (spoken > 0 && speaks_of(packet, entry.state.id())) continue;
    *packet.add_rumors() = entry.state;
    bytes += entry.bytes;
    ++entry.transmits;
  }
  std::erase_if(entries_,
                [transmits_max](const Entry& entry) { return entry.transmits >= transmits_max; });
  std::sort(entries_.begin(), entries_.end(), goes_before);
}

}  // namespace torc::membership
