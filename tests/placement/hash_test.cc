#include "placement/hash.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace torc::placement {
namespace {

TEST_CASE("hash: the pairs (ab, c) and (a, bc) differ because each part is framed") {
  CHECK(hash_pair("ab", "c") != hash_pair("a", "bc"));
  CHECK(hash_pair("", "abc") != hash_pair("abc", ""));
  CHECK(hash_pair("a", "b") == hash_pair("a", "b"));
  CHECK(hash_pair("a", "b", 1) != hash_pair("a", "b", 2));
}

TEST_CASE("hash: the functions are fixed, since a change would move data") {
  CHECK(hash_bytes("") == 0x2d06800538d394c2);  // XXH3_64 of nothing, as its authors publish it
  CHECK(hash_bytes("torc") == 0xc391707079b8e025);
  CHECK(hash_bytes("torc", 7) == 0xfadf8d128d123e5b);
  CHECK(hash_pair("torc", "n1") == 0xaad80199d5d31c52);
}

TEST_CASE("hash: a pair is hashed as its two parts, each behind its 64-bit little-endian length") {
  const std::string framed("\x02\0\0\0\0\0\0\0ab\x01\0\0\0\0\0\0\0c", 19);
  CHECK(hash_pair("ab", "c", 9) == hash_bytes(framed, 9));
}

TEST_CASE("hash: a key's partition is the top bits of its hash") {
  for (const char* key : {"", "a", "key0", "pkg:bash"}) {
    const uint64_t hash = hash_bytes(key, 42);
    CHECK(partition_of(key, 1, 42) == 0);
    CHECK(partition_of(key, 2, 42) == hash >> 63);
    CHECK(partition_of(key, 4096, 42) == hash >> 52);
    CHECK(partition_of(key, 1u << 24, 42) == hash >> 40);
  }
}

TEST_CASE("hash: keys spread evenly over the partitions") {
  std::vector<int> counts(16, 0);
  for (int i = 0; i < 16'000; ++i) ++counts[partition_of("key" + std::to_string(i), 16, 0)];
  for (const int count : counts) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

}  // namespace
}  // namespace torc::placement
