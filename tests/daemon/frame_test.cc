#include "daemon/node/frame.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <xxhash.h>

#include <vector>

namespace torc::node {
namespace {

constexpr uint64_t kCluster = 0x1122334455667788;

pb::Envelope merge(const std::string& record) {
  pb::Envelope message;
  message.set_from(9);
  message.mutable_merge()->set_key("k");
  message.mutable_merge()->set_record(record);
  return message;
}

pb::Envelope join() {
  pb::Envelope message;
  message.mutable_join()->mutable_member()->set_name("n2");
  return message;
}

std::string framed(const std::vector<pb::Envelope>& messages, uint64_t cluster_id = kCluster) {
  std::string out;
  FrameWriter writer(out);
  for (const auto& message : messages) writer.append(message, cluster_id);
  writer.finish();
  return out;
}

// A frame around any payload, with a right checksum.
std::string framed_payload(std::string_view payload) {
  std::string out = framed({merge("")});
  out.resize(kFrameHeaderBytes);
  const uint64_t checksum = XXH3_64bits(payload.data(), payload.size());
  for (size_t i = 0; i < 4; ++i) out[8 + i] = static_cast<char>(payload.size() >> (8 * i));
  for (size_t i = 0; i < 8; ++i) out[20 + i] = static_cast<char>(checksum >> (8 * i));
  return out.append(payload);
}

struct Reading {
  FrameError feed(std::string_view bytes, uint64_t cluster_id = kCluster) {
    return reader.feed(bytes, cluster_id, [this](pb::Envelope& message) {
      messages.push_back(message.SerializeAsString());
    });
  }
  FrameReader reader;
  std::vector<std::string> messages;
};

TEST_CASE("frame: what is written is read, however the stream cuts it") {
  CHECK(rc::check([](const std::vector<std::string>& records, const std::vector<uint8_t>& cuts) {
    std::vector<pb::Envelope> messages;
    std::vector<std::string> expected;
    for (const std::string& record : records) messages.push_back(merge(record));
    std::string bytes;
    for (int frame = 0; frame < 2; ++frame) {
      bytes += framed(messages);
      for (const auto& message : messages) expected.push_back(message.SerializeAsString());
    }

    Reading reading;
    std::string_view rest = bytes;
    for (const uint8_t cut : cuts) {
      RC_ASSERT(reading.feed(rest.substr(0, cut)) == FrameError::kNone);
      rest.remove_prefix(std::min<size_t>(cut, rest.size()));
    }
    RC_ASSERT(reading.feed(rest) == FrameError::kNone);
    RC_ASSERT(reading.messages == expected);
  }));
}

TEST_CASE("frame: small messages share a frame, and a full frame is followed by another") {
  std::string out;
  FrameWriter writer(out);
  writer.append(merge("a"), kCluster);
  writer.append(merge("b"), kCluster);
  writer.finish();
  const size_t one = merge("a").ByteSizeLong() + 1;
  CHECK(out.size() == kFrameHeaderBytes + 2 * one);

  writer.append(merge(std::string(kFrameBytesTarget, 'x')), kCluster);
  writer.append(merge("c"), kCluster);
  writer.finish();
  Reading reading;
  CHECK(reading.feed(out) == FrameError::kNone);
  CHECK(reading.messages.size() == 4);
  CHECK(out.size() > 3 * kFrameHeaderBytes + kFrameBytesTarget + 3 * one);
}

TEST_CASE("frame: a newcomer who learns its cluster starts a new frame") {
  std::string out;
  FrameWriter writer(out);
  writer.append(join(), 0);
  writer.append(merge("a"), kCluster);
  writer.finish();
  Reading reading;
  CHECK(reading.feed(out) == FrameError::kNone);
  CHECK(reading.messages.size() == 2);
}

TEST_CASE("frame: the largest record fits") {
  const std::string bytes = framed({merge(std::string(16 * 1024 * 1024 + 100, 'v'))});
  Reading reading;
  CHECK(reading.feed(std::string_view(bytes).substr(0, 1'000'000)) == FrameError::kNone);
  CHECK(reading.feed(std::string_view(bytes).substr(1'000'000)) == FrameError::kNone);
  CHECK(reading.messages.size() == 1);
}

TEST_CASE("frame: a prefix says nothing, neither message nor error") {
  const std::string bytes = framed({merge("value")});
  for (size_t length = 0; length < bytes.size(); ++length) {
    Reading reading;
    CHECK(reading.feed(std::string_view(bytes).substr(0, length)) == FrameError::kNone);
    CHECK(reading.messages.empty());
  }
}

TEST_CASE("frame: no flipped bit lets another message through") {
  const std::string bytes = framed({merge("value"), merge("other")});
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const size_t byte = bit / 8;
    if (byte == 6 || byte == 7) continue;  // the minor version: any is welcome
    std::string flipped = bytes;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (bit % 8)));
    Reading reading;
    const FrameError error = reading.feed(flipped);
    CHECK(reading.messages.empty());
    // A longer length waits for bytes that never come; everything else is an error at once.
    if (byte < 8 || byte > 11) CHECK(error != FrameError::kNone);
  }
}

TEST_CASE("frame: a stranger is refused with the first bytes that give him away") {
  CHECK(Reading().feed("G") == FrameError::kNotTorc);
  CHECK(Reading().feed("TORX") == FrameError::kNotTorc);
  std::string version = framed({merge("a")}).substr(0, 6);
  version[4] = 2;
  CHECK(Reading().feed(version) == FrameError::kVersion);
  CHECK(Reading().feed(framed({merge("a")}, kCluster + 1).substr(0, kFrameHeaderBytes)) ==
        FrameError::kCluster);
}

TEST_CASE("frame: a minor version may differ") {
  std::string bytes = framed({merge("a")});
  bytes[6] = 9;
  Reading reading;
  CHECK(reading.feed(bytes) == FrameError::kNone);
  CHECK(reading.messages.size() == 1);
}

TEST_CASE("frame: a length beyond the cap is refused before anything is kept") {
  std::string header = framed({merge("a")}).substr(0, kFrameHeaderBytes);
  for (size_t i = 8; i < 12; ++i) header[i] = '\xff';
  CHECK(Reading().feed(header) == FrameError::kTooLong);
}

TEST_CASE("frame: lengths inside the payload that lie are malformed") {
  const std::string envelope = merge("a").SerializeAsString();
  const char length = static_cast<char>(envelope.size());
  CHECK(Reading().feed(framed_payload(length + envelope)) == FrameError::kNone);
  CHECK(Reading().feed(framed_payload(static_cast<char>(length + 1) + envelope)) ==
        FrameError::kMalformed);
  CHECK(Reading().feed(framed_payload("\xff\xff\xff\xff\x0f" + envelope)) ==
        FrameError::kMalformed);
  CHECK(Reading().feed(framed_payload("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")) ==
        FrameError::kMalformed);
  CHECK(Reading().feed(framed_payload("\x80")) == FrameError::kMalformed);
  CHECK(Reading().feed(framed_payload("\x03xyz")) == FrameError::kMalformed);
  CHECK(Reading().feed(framed_payload("")) == FrameError::kMalformed);
}

TEST_CASE("frame: cluster 0 may ask to join and no more") {
  CHECK(Reading().feed(framed({join()}, 0)) == FrameError::kNone);
  CHECK(Reading().feed(framed({merge("a")}, 0)) == FrameError::kCluster);
  CHECK(Reading().feed(framed({merge("a")}, 0), 0) == FrameError::kCluster);
  pb::Envelope long_join = join();
  long_join.mutable_join()->mutable_member()->set_rack(std::string(kNewcomerFrameBytesMax, 'r'));
  CHECK(Reading().feed(framed({long_join}, 0)) == FrameError::kTooLong);
}

TEST_CASE("frame: a newcomer listens to any cluster") {
  Reading reading;
  CHECK(reading.feed(framed({merge("a")}), 0) == FrameError::kNone);
  CHECK(reading.messages.size() == 1);
}

TEST_CASE("frame: a datagram is exactly one frame") {
  const auto read = [](std::string_view bytes) {
    size_t messages = 0;
    const FrameError error =
        FrameReader::read_datagram(bytes, kCluster, [&](pb::Envelope&) { ++messages; });
    return std::pair(error, messages);
  };
  const std::string bytes = framed({merge("a")});
  CHECK(read(bytes) == std::pair(FrameError::kNone, size_t{1}));
  CHECK(read(bytes + "x") == std::pair(FrameError::kMalformed, size_t{0}));
  CHECK(read(bytes + bytes) == std::pair(FrameError::kMalformed, size_t{0}));
  CHECK(read(bytes.substr(0, bytes.size() - 1)) == std::pair(FrameError::kMalformed, size_t{0}));
  CHECK(read(bytes.substr(0, 10)) == std::pair(FrameError::kMalformed, size_t{0}));
  CHECK(read("") == std::pair(FrameError::kMalformed, size_t{0}));
}

TEST_CASE("frame: garbage never crashes a reader and never makes a message") {
  CHECK(rc::check([](const std::vector<std::string>& chunks, bool begins_well) {
    Reading reading;
    if (begins_well) RC_ASSERT(reading.feed("TORC") == FrameError::kNone);
    for (const std::string& chunk : chunks) {
      if (reading.feed(chunk) != FrameError::kNone) break;
    }
    RC_ASSERT(reading.messages.empty());
  }));
}

}  // namespace
}  // namespace torc::node
