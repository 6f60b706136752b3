#include "membership/address.h"

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <string>

namespace torc {
namespace {

Address address(std::string_view text) {
  return Address::parse(text).value();
}

}  // namespace

TEST_CASE("address: what is written can be read again") {
  for (const std::string text :
       {"127.0.0.1:7101", "0.0.0.0:1", "255.255.255.255:65535", "[::1]:7101", "[::]:80",
        "[fe80::1:2]:9", "[2001:db8::ff00:42:8329]:443"}) {
    CAPTURE(text);
    CHECK(address(text).to_string() == text);
  }
}

TEST_CASE("address: it says what it is") {
  CHECK(address("127.9.9.9:1").is_loopback());
  CHECK(address("[::1]:1").is_loopback());
  CHECK_FALSE(address("128.0.0.1:1").is_loopback());
  CHECK_FALSE(address("[::2]:1").is_loopback());
  CHECK(address("0.0.0.0:1").is_unspecified());
  CHECK(address("[::]:1").is_unspecified());
  CHECK_FALSE(address("0.0.0.1:1").is_unspecified());
  CHECK(address("1.2.3.4:1").is_v4());
  CHECK_FALSE(address("[::1]:1").is_v4());
  CHECK_FALSE(Address{});
  CHECK(address("1.2.3.4:1"));
}

TEST_CASE("address: an IPv4 address in IPv6 clothes is the same endpoint") {
  CHECK(address("[::ffff:1.2.3.4]:5") == address("1.2.3.4:5"));
  CHECK(std::hash<Address>()(address("[::ffff:1.2.3.4]:5")) ==
        std::hash<Address>()(address("1.2.3.4:5")));
  CHECK(address("1.2.3.4:5") != address("1.2.3.4:6"));
}

TEST_CASE("address: names, missing or wild ports and garbage are refused") {
  for (const std::string text : {"",
                                 ":",
                                 "127.0.0.1",
                                 "127.0.0.1:",
                                 "127.0.0.1:0",
                                 "127.0.0.1:65536",
                                 "127.0.0.1:-1",
                                 "127.0.0.1:+1",
                                 "127.0.0.1:1x",
                                 "127.0.0.1: 1",
                                 "localhost:7101",
                                 "127.0.0:7101",
                                 "127.0.0.1.1:7101",
                                 "256.0.0.1:7101",
                                 "::1:7101",
                                 "[::1]",
                                 "[::1]7101",
                                 "[]:1",
                                 "[:1",
                                 "[1.2.3.4]:1",
                                 "[::g]:1",
                                 "[::1%lo]:1",
                                 ":7101",
                                 "1.2.3.4:99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(Address::parse(text).has_value());
  }
  CHECK_FALSE(Address::parse(std::string(100000, '1')).has_value());
  CHECK_FALSE(Address::parse(std::string_view("1.2.3.4\0:1", 10)).has_value());
}

TEST_CASE("address: bytes are six or eighteen, and survive the way there and back") {
  CHECK(address("1.2.3.4:258").to_bytes() == std::string("\x01\x02\x03\x04\x01\x02"));
  CHECK(address("[::1]:7101").to_bytes().size() == 18);
  CHECK(Address{}.to_bytes().empty());
  CHECK(rc::check([](const std::array<uint8_t, 16>& ip, uint16_t port) {
    const Address before{ip, port};
    return port == 0 || Address::from_bytes(before.to_bytes()) == before;
  }));
}

TEST_CASE("address: bytes of any other length, or without a port, reach nothing") {
  for (size_t bytes = 0; bytes < 40; ++bytes) {
    CAPTURE(bytes);
    const bool fits = bytes == 6 || bytes == 18;
    CHECK(static_cast<bool>(Address::from_bytes(std::string(bytes, '\x01'))) == fits);
  }
  CHECK(Address::from_bytes(std::string("\x01\x02\x03\x04\0\0", 6)) == Address{});
}

}  // namespace torc
