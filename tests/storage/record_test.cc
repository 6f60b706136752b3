#include "storage/record.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <array>

#include "storage/record.pb.h"
#include "tests/storage/any_record.h"

namespace torc::storage {
namespace {

std::string with_header(const pb::RecordHeader& header, std::string_view value) {
  const std::string bytes = header.SerializeAsString();
  std::string out(1, static_cast<char>(bytes.size()));
  return out.append(bytes).append(value);
}

StatusCode parse_code(std::string_view encoded) {
  const auto record = RecordView::parse(encoded);
  return record ? StatusCode::kOk : record.error().code();
}

TEST_CASE("record: what was encoded is parsed again, and the value is not copied") {
  const RecordView record{.version = {7, NodeId{1}},
                          .tombstone = false,
                          .value = "a value",
                          .expiry = {{9, NodeId{2}}, {7, NodeId{1}}, 100}};
  const std::string encoded = encode(record);
  const auto parsed = RecordView::parse(encoded);
  REQUIRE(parsed);
  CHECK(*parsed == record);
  CHECK(parsed->value.data() == encoded.data() + encoded.size() - record.value.size());
}

TEST_CASE("record: a round trip keeps every record, and equal records give equal bytes") {
  CHECK(rc::check("round trip", [] {
    const RecordView record = any_record();
    const std::string encoded = encode(record);
    const auto parsed = RecordView::parse(encoded);
    RC_ASSERT(parsed.has_value());
    RC_ASSERT(*parsed == record);
    RC_ASSERT(encode(*parsed) == encoded);
  }));
}

TEST_CASE("record: the empty string is the empty record") {
  CHECK(encode(RecordView{}).empty());
  CHECK(RecordView::parse("").value() == RecordView{});
}

TEST_CASE("record: any bytes at all are parsed or refused") {
  CHECK(rc::check("garbage", [](const std::string& bytes) {
    const auto record = RecordView::parse(bytes);
    if (record) RC_ASSERT(RecordView::parse(encode(*record)).value() == *record);
  }));
  CHECK(rc::check("a damaged record", [] {
    std::string bytes = encode(any_record());
    if (bytes.empty()) return;
    bytes[*rc::gen::inRange<size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    const auto record = RecordView::parse(bytes);
    if (record) RC_ASSERT(RecordView::parse(encode(*record)).value() == *record);
  }));
}

TEST_CASE("record: a header length that is cut off, out of bounds or not canonical is refused") {
  const std::string encoded = encode({.version = {7, NodeId{1}}, .value = "v"});
  for (size_t kept = 1; kept + 1 < encoded.size(); ++kept) {
    CHECK(parse_code(std::string_view(encoded).substr(0, kept)) == StatusCode::kCorruption);
  }
  CHECK(parse_code("\x7f") == StatusCode::kCorruption);
  CHECK(parse_code(std::string("\x80\x00", 2)) == StatusCode::kCorruption);
  CHECK(parse_code("\xff\xff\xff\xff\x0f") == StatusCode::kCorruption);
  CHECK(parse_code(std::string("\xff\x7f").append(20000, '\0')) == StatusCode::kCorruption);
}

TEST_CASE("record: what no writer can have meant is refused") {
  struct Case {
    const char* what;
    void (*fill)(pb::RecordHeader&);
    const char* value;
  };
  const std::array cases{
      Case{"neither value nor expiry", [](pb::RecordHeader&) {}, ""},
      Case{"value bytes without a version", [](pb::RecordHeader&) {}, "v"},
      Case{"a node without a time", [](pb::RecordHeader& h) { h.set_node(1); }, ""},
      Case{"a tombstone without a version", [](pb::RecordHeader& h) { h.set_tombstone(true); }, ""},
      Case{"a tombstone with a value",
           [](pb::RecordHeader& h) {
             h.set_hlc(1);
             h.set_tombstone(true);
           },
           "v"},
      Case{"an expiry of no value",
           [](pb::RecordHeader& h) {
             h.set_hlc(1);
             h.set_expiry_hlc(2);
           },
           "v"},
      Case{"an expiry time without a version",
           [](pb::RecordHeader& h) {
             h.set_hlc(1);
             h.set_expires_at(2);
           },
           "v"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    pb::RecordHeader header;
    c.fill(header);
    CHECK(parse_code(with_header(header, c.value)) == StatusCode::kCorruption);
  }
}

TEST_CASE("record: fields of a later version are passed over") {
  const std::string encoded = encode({.version = {7, NodeId{1}}, .value = "v"});
  const std::string_view unknown_field = "\x78\x05";  // field 15, varint 5
  std::string later(1, static_cast<char>(encoded[0] + 2));
  later.append(encoded.substr(1, static_cast<size_t>(encoded[0])))
      .append(unknown_field)
      .append("v");
  const auto parsed = RecordView::parse(later);
  REQUIRE(parsed);
  CHECK(parsed->version == Version{7, NodeId{1}});
  CHECK(parsed->value == "v");
}

TEST_CASE("record: is live from its writing until it is deleted or its own expiry has come") {
  RecordView record{.version = {7, NodeId{1}}, .value = "v"};
  CHECK(record.is_live(0));
  record.expiry = {.version = {8, NodeId{1}}, .of = record.version, .expires_at = 100};
  CHECK(record.is_live(99));
  CHECK_FALSE(record.is_live(100));

  record.expiry.of = {6, NodeId{1}};  // of another value: void
  CHECK(record.is_live(100));
  record.expiry.of = record.version;
  record.expiry.expires_at = 0;  // PERSIST
  CHECK(record.is_live(100));

  CHECK_FALSE(RecordView{}.is_live(0));
  CHECK_FALSE(RecordView{.version = {7, NodeId{1}}, .tombstone = true}.is_live(0));
}

}  // namespace
}  // namespace torc::storage
