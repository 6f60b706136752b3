#include "storage/record.h"

#include <cassert>
#include <optional>

#include "storage/record.pb.h"

namespace torc::storage {
namespace {

// A header is at most 72 bytes today, so its length is a varint of one byte. Fields of later
// versions may make it longer; the limit keeps a damaged length from being believed.
constexpr size_t kHeaderBytesWritten = 127;
constexpr size_t kHeaderBytesMax = 1024;

std::unexpected<Status> malformed(const char* what) {
  return std::unexpected(Status(StatusCode::kCorruption, std::string("malformed record: ") + what));
}

// Takes the header's length off the front; nullopt when there is no canonical varint in range.
std::optional<size_t> take_header_length(std::string_view& bytes) {
  size_t length = 0;
  for (size_t i = 0; i < 2 && i < bytes.size(); ++i) {
    const auto byte = static_cast<uint8_t>(bytes[i]);
    length |= size_t{byte & 0x7fu} << (7 * i);
    if ((byte & 0x80u) != 0) continue;
    if (i > 0 && byte == 0) return std::nullopt;
    bytes.remove_prefix(i + 1);
    return length;
  }
  return std::nullopt;
}

// What no writer can have meant; nullptr when the record makes sense.
const char* nonsense_in(const RecordView& record) {
  if (!record.version) {
    if (record.version.node) return "a value version without a time";
    if (record.tombstone) return "a tombstone without a version";
    if (!record.value.empty()) return "a value without a version";
    if (!record.expiry.version) return "neither a value nor an expiry";
  }
  if (record.tombstone && !record.value.empty()) return "a tombstone with a value";
  const Expiry& expiry = record.expiry;
  if (!expiry.version && expiry != Expiry{}) return "an expiry without a version";
  if (expiry.version && !expiry.of) return "an expiry of no value";
  return nullptr;
}

}  // namespace

bool RecordView::is_live(uint64_t now_hlc) const {
  if (!version || tombstone) return false;
  const bool expires = expiry.version && expiry.of == version && expiry.expires_at != 0;
  return !expires || expiry.expires_at > now_hlc;
}

Result<RecordView> RecordView::parse(std::string_view encoded) {
  if (encoded.empty()) return RecordView{};
  const auto length = take_header_length(encoded);
  if (!length || *length > kHeaderBytesMax) return malformed("bad header length");
  if (*length > encoded.size()) return malformed("the header is cut off");
  pb::RecordHeader header;
  if (!header.ParseFromArray(encoded.data(), static_cast<int>(*length))) {
    return malformed("the header is not a RecordHeader");
  }
  const RecordView record{.version = {header.hlc(), NodeId{header.node()}},
                          .tombstone = header.tombstone(),
                          .value = encoded.substr(*length),
                          .expiry = {.version = {header.expiry_hlc(), NodeId{header.expiry_node()}},
                                     .of = {header.of_hlc(), NodeId{header.of_node()}},
                                     .expires_at = header.expires_at()}};
  if (const char* what = nonsense_in(record)) return malformed(what);
  return record;
}

std::string encode(const RecordView& record) {
  if (record == RecordView{}) return {};
  assert(nonsense_in(record) == nullptr);
  pb::RecordHeader header;
  header.set_hlc(record.version.hlc);
  header.set_node(record.version.node.value);
  header.set_tombstone(record.tombstone);
  header.set_expiry_hlc(record.expiry.version.hlc);
  header.set_expiry_node(record.expiry.version.node.value);
  header.set_of_hlc(record.expiry.of.hlc);
  header.set_of_node(record.expiry.of.node.value);
  header.set_expires_at(record.expiry.expires_at);
  const size_t header_bytes = header.ByteSizeLong();
  assert(header_bytes <= kHeaderBytesWritten);

  std::string out;
  out.reserve(1 + header_bytes + record.value.size());
  out.resize(1 + header_bytes);
  out[0] = static_cast<char>(header_bytes);
  header.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(out.data()) + 1);
  out.append(record.value);
  return out;
}

}  // namespace torc::storage
