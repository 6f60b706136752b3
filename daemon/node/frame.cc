#include "daemon/node/frame.h"

#include <google/protobuf/io/coded_stream.h>
#include <xxhash.h>

#include <algorithm>
#include <cassert>

namespace torc::node {
namespace {

constexpr std::string_view kMagic = "TORC";
constexpr size_t kMajorAt = 4;
constexpr size_t kMinorAt = 6;
constexpr size_t kLengthAt = 8;
constexpr size_t kClusterAt = 12;
constexpr size_t kChecksumAt = 20;
constexpr size_t kVarintBytesMax = 5;  // of a 32-bit length

template <typename T>
void store(char* to, T value) {
  for (size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

template <typename T>
T load(const char* from) {
  T value = 0;
  for (size_t i = 0; i < sizeof value; ++i) {
    value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(from[i])) << (8 * i));
  }
  return value;
}

struct Header {
  uint32_t payload_bytes = 0;
  uint64_t cluster_id = 0;
  uint64_t checksum = 0;
};

// Looks at a frame's beginning, however little of it has arrived, and refuses a stranger as soon as
// it shows. `needed` is the length of the whole frame, or of the header as long as that is not
// whole.
FrameError inspect(std::string_view bytes, uint64_t own_cluster, Header& header, size_t& needed) {
  const size_t magic_bytes = std::min(bytes.size(), kMagic.size());
  if (bytes.substr(0, magic_bytes) != kMagic.substr(0, magic_bytes)) return FrameError::kNotTorc;
  if (bytes.size() >= kMinorAt && load<uint16_t>(bytes.data() + kMajorAt) != kProtocolMajor) {
    return FrameError::kVersion;
  }
  needed = kFrameHeaderBytes;
  if (bytes.size() < kFrameHeaderBytes) return FrameError::kNone;

  header.payload_bytes = load<uint32_t>(bytes.data() + kLengthAt);
  header.cluster_id = load<uint64_t>(bytes.data() + kClusterAt);
  header.checksum = load<uint64_t>(bytes.data() + kChecksumAt);
  if (header.cluster_id != 0 && own_cluster != 0 && header.cluster_id != own_cluster) {
    return FrameError::kCluster;
  }
  const size_t cap = header.cluster_id == 0 ? kNewcomerFrameBytesMax : kFrameBytesMax;
  if (header.payload_bytes > cap - kFrameHeaderBytes) return FrameError::kTooLong;
  needed += header.payload_bytes;
  return FrameError::kNone;
}

FrameError read_payload(std::string_view payload, const Header& header, pb::Envelope& envelope,
                        const FrameReader::Sink& sink) {
  if (XXH3_64bits(payload.data(), payload.size()) != header.checksum) return FrameError::kChecksum;
  if (payload.empty()) return FrameError::kMalformed;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(payload.data()),
                                            static_cast<int>(payload.size()));
  while (in.CurrentPosition() < static_cast<int>(payload.size())) {
    uint32_t length = 0;
    if (!in.ReadVarint32(&length)) return FrameError::kMalformed;
    const auto at = static_cast<size_t>(in.CurrentPosition());
    if (length > payload.size() - at) return FrameError::kMalformed;
    envelope.Clear();
    if (!envelope.ParseFromArray(payload.data() + at, static_cast<int>(length))) {
      return FrameError::kMalformed;
    }
    if (header.cluster_id == 0 && envelope.message_case() != pb::Envelope::kJoin) {
      return FrameError::kCluster;
    }
    sink(envelope);
    in.Skip(static_cast<int>(length));
  }
  return FrameError::kNone;
}

}  // namespace

const char* to_string(FrameError error) {
  switch (error) {
    case FrameError::kNone:
      return "no error";
    case FrameError::kNotTorc:
      return "not the torc protocol";
    case FrameError::kVersion:
      return "another major protocol version";
    case FrameError::kCluster:
      return "another cluster";
    case FrameError::kTooLong:
      return "a frame longer than its cap";
    case FrameError::kChecksum:
      return "a wrong checksum";
    case FrameError::kMalformed:
      return "a malformed message";
  }
  return "unknown";
}

void FrameWriter::append(const pb::Envelope& message, uint64_t cluster_id) {
  using google::protobuf::io::CodedOutputStream;
  const size_t message_bytes = message.ByteSizeLong();
  assert(message_bytes <= kFrameBytesMax - kFrameBytesTarget - kFrameHeaderBytes - kVarintBytesMax);
  if (frame_begin_ != out_.npos &&
      (cluster_id != cluster_id_ || out_.size() - frame_begin_ >= kFrameBytesTarget)) {
    finish();
  }
  size_t end = out_.size();
  const bool opens = frame_begin_ == out_.npos;
  const size_t length_bytes = CodedOutputStream::VarintSize32(static_cast<uint32_t>(message_bytes));
  const size_t grown = end + (opens ? kFrameHeaderBytes : 0) + length_bytes + message_bytes;
  if (opens) {
    frame_begin_ = end;
    cluster_id_ = cluster_id;
    end += kFrameHeaderBytes;  // filled in by finish()
  }
  // GCC 12.2 hands the grown capacity, not the wanted size, to the operation.
  out_.resize_and_overwrite(grown, [&](char* bytes, size_t) {
    auto* at = reinterpret_cast<uint8_t*>(bytes) + end;
    at = CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(message_bytes), at);
    message.SerializeWithCachedSizesToArray(at);
    return grown;
  });
}

void FrameWriter::finish() {
  if (frame_begin_ == out_.npos) return;
  char* header = out_.data() + frame_begin_;
  const char* payload = header + kFrameHeaderBytes;
  const size_t payload_bytes = out_.size() - frame_begin_ - kFrameHeaderBytes;
  std::copy(kMagic.begin(), kMagic.end(), header);
  store(header + kMajorAt, kProtocolMajor);
  store(header + kMinorAt, kProtocolMinor);
  store(header + kLengthAt, static_cast<uint32_t>(payload_bytes));
  store(header + kClusterAt, cluster_id_);
  store(header + kChecksumAt, uint64_t{XXH3_64bits(payload, payload_bytes)});
  frame_begin_ = out_.npos;
}

FrameError FrameReader::feed(std::string_view bytes, uint64_t cluster_id, const Sink& sink) {
  for (;;) {
    const bool cut = !pending_.empty();
    const std::string_view beginning = cut ? std::string_view(pending_) : bytes;
    if (beginning.empty()) return FrameError::kNone;

    Header header;
    size_t needed = 0;
    FrameError error = inspect(beginning, cluster_id, header, needed);
    if (error != FrameError::kNone) return error;
    if (beginning.size() < needed) {
      const size_t taken = std::min(bytes.size(), needed - pending_.size());
      pending_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (pending_.size() < needed) return FrameError::kNone;
      continue;
    }

    const std::string_view payload =
        beginning.substr(kFrameHeaderBytes, needed - kFrameHeaderBytes);
    error = read_payload(payload, header, envelope_, sink);
    if (error != FrameError::kNone) return error;
    if (cut) {
      pending_.clear();
      // One large record is no reason to hold its memory as long as the connection lasts.
      if (pending_.capacity() > 4 * kFrameBytesTarget) pending_.shrink_to_fit();
    } else {
      bytes.remove_prefix(needed);
    }
  }
}

FrameError FrameReader::read_datagram(std::string_view bytes, uint64_t cluster_id,
                                      const Sink& sink) {
  Header header;
  size_t needed = 0;
  const FrameError error = inspect(bytes, cluster_id, header, needed);
  if (error != FrameError::kNone) return error;
  if (bytes.size() != needed) return FrameError::kMalformed;
  pb::Envelope envelope;
  return read_payload(bytes.substr(kFrameHeaderBytes), header, envelope, sink);
}

}  // namespace torc::node
