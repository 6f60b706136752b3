#include "membership/node_id.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <string>

namespace torc {

TEST_CASE("node id: it is written as 16 lower-case hex digits") {
  CHECK(NodeId{}.to_string() == "0000000000000000");
  CHECK(NodeId{0xab}.to_string() == "00000000000000ab");
  CHECK(NodeId{UINT64_MAX}.to_string() == "ffffffffffffffff");
}

TEST_CASE("node id: zero is nobody") {
  CHECK_FALSE(NodeId{});
  CHECK(NodeId{1});
}

TEST_CASE("node id: what is written can be read again") {
  CHECK(rc::check(
      [](uint64_t value) { return NodeId::parse(NodeId{value}.to_string()) == NodeId{value}; }));
}

TEST_CASE("node id: anything but 16 lower-case hex digits is refused") {
  for (const std::string text :
       {"", "0", "00000000000000AB", "0x000000000000ab", "+0000000000000ab", "00000000000000ab ",
        "000000000000000g", "00000000000000abc", "-000000000000001"}) {
    CAPTURE(text);
    CHECK_FALSE(NodeId::parse(text).has_value());
  }
  CHECK_FALSE(NodeId::parse(std::string_view("0000000\0000000ab", 16)).has_value());
  CHECK(rc::check([](const std::string& text) {
    const auto id = NodeId::parse(text);
    return !id || id->to_string() == text;
  }));
}

}  // namespace torc
