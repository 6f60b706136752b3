#include "storage/key_codec.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

namespace torc::storage {
namespace {

bool is_in(const KeyRange& range, const std::string& key) {
  return range.begin <= key && key < range.end;
}

TEST_CASE("key codec: the layout on disk is fixed") {
  CHECK(data_key(0x010203, "k") == std::string("d\x00\x01\x02\x03k", 6));
  CHECK(meta_key("name") == "mname");
}

TEST_CASE(
    "key codec: a data key decodes to what it was made of, and sorts by partition, then key") {
  CHECK(rc::check("round trip", [](const std::string& key, const std::string& other_key) {
    const auto partition = *rc::gen::inRange<uint32_t>(0, kPartitionsMax);
    const auto other = *rc::gen::inRange<uint32_t>(0, kPartitionsMax);
    const std::string encoded = data_key(partition, key);
    const auto decoded = decode_data_key(encoded);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(decoded->partition == partition);
    RC_ASSERT(decoded->key == key);
    RC_ASSERT((encoded < data_key(other, other_key)) ==
              (std::tie(partition, key) < std::tie(other, other_key)));
  }));
}

TEST_CASE("key codec: a partition's range holds its keys and no others") {
  const std::string high(3, '\xff');
  for (const uint32_t partition : {0u, 1u, 0xffu, 0x100u, kPartitionsMax - 1}) {
    const KeyRange range = partition_range(partition);
    CHECK(is_in(range, data_key(partition, "")));
    CHECK(is_in(range, data_key(partition, high)));
    CHECK(is_in(data_range(), data_key(partition, high)));
    if (partition > 0) CHECK_FALSE(is_in(range, data_key(partition - 1, high)));
    if (partition + 1 < kPartitionsMax) CHECK_FALSE(is_in(range, data_key(partition + 1, "")));
  }
  CHECK_FALSE(is_in(data_range(), meta_key("")));
}

TEST_CASE("key codec: what is not a data key does not decode") {
  CHECK_FALSE(decode_data_key(""));
  CHECK_FALSE(decode_data_key("d\x01\x02\x03"));
  CHECK_FALSE(decode_data_key("d\x01\x02\x03\x04"));  // a partition that cannot exist
  CHECK_FALSE(decode_data_key(meta_key("12345678")));
}

}  // namespace
}  // namespace torc::storage
