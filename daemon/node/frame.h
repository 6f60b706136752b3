// The frame around peer messages, for streams and datagrams alike:
//   magic "TORC" | u16 major | u16 minor | u32 payload length | u64 cluster id | u64
//   XXH3_64(payload) | payload
// (little-endian), the payload being one or more Envelopes, each preceded by its varint length.
// Whatever is wrong is found before an Envelope is decoded. Pure; one reader per connection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "daemon/node/peer.pb.h"

namespace torc::node {

constexpr uint16_t kProtocolMajor = 1;
constexpr uint16_t kProtocolMinor = 0;
constexpr size_t kFrameHeaderBytes = 28;
// Room for one record of the largest key and value.
constexpr size_t kFrameBytesMax = 17 * 1024 * 1024;
constexpr size_t kDatagramBytesMax = 1400;
// A frame of cluster 0 holds JoinRequests and no more.
constexpr size_t kNewcomerFrameBytesMax = 4096;
// A writer starts a new frame beyond this, so that one checksum never waits for megabytes of small
// messages.
constexpr size_t kFrameBytesTarget = 256 * 1024;

enum class FrameError {
  kNone,
  kNotTorc,  // no magic
  kVersion,  // another major version
  kCluster,  // another cluster
  kTooLong,  // longer than its cap
  kChecksum,
  kMalformed,  // an envelope that does not parse
};
const char* to_string(FrameError error);

// Appends messages to a byte string, many to a frame.
class FrameWriter {
 public:
  explicit FrameWriter(std::string& out) : out_(out) {}
  // A frame of cluster 0 comes from a newcomer that does not know its cluster yet. REQUIRES: the
  // message fits a frame of kFrameBytesMax.
  void append(const pb::Envelope& message, uint64_t cluster_id);
  // Fills in the open frame's header; to be called before `out` is sent or cleared.
  void finish();

 private:
  std::string& out_;
  size_t frame_begin_ = std::string::npos;  // npos: no frame is open
  uint64_t cluster_id_ = 0;                 // of the open frame
};

// What a reader accepts: its own cluster; any while it knows none; from cluster 0 only
// JoinRequests. A whole frame in the bytes it is fed is read where it stands; only a frame cut in
// two is copied together.
class FrameReader {
 public:
  using Sink = std::function<void(pb::Envelope& message)>;

  // Feeds bytes of a stream; calls `sink` for each whole message. After an error the connection is
  // to be closed. `cluster_id` is this daemon's (0 = none yet).
  FrameError feed(std::string_view bytes, uint64_t cluster_id, const Sink& sink);

  // One datagram: exactly one frame.
  static FrameError read_datagram(std::string_view bytes, uint64_t cluster_id, const Sink& sink);

 private:
  std::string pending_;    // a frame's beginning, at most kFrameBytesMax
  pb::Envelope envelope_;  // reused from message to message
};

}  // namespace torc::node
