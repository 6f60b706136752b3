// Address: an IP address and port, without names to look up. Two addresses are equal when they
// reach the same endpoint; a default-made one reaches nothing. A plain value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace torc {

struct Address {
  std::array<uint8_t, 16> ip{};  // IPv4 as ::ffff:a.b.c.d
  uint16_t port = 0;

  auto operator<=>(const Address&) const = default;
  explicit operator bool() const { return port != 0; }

  bool is_v4() const;
  bool is_loopback() const;
  bool is_unspecified() const;  // 0.0.0.0 or ::

  // "127.0.0.1:7101" or "[::1]:7101".
  std::string to_string() const;
  // The inverse of to_string(): literal addresses only, port 1..65535; nullopt for anything else.
  static std::optional<Address> parse(std::string_view text);

  // 6 bytes (IPv4) or 18 (IPv6), port big-endian; empty for the default address.
  std::string to_bytes() const;
  // The inverse; the default address for anything else.
  static Address from_bytes(std::string_view bytes);
};

}  // namespace torc

template <>
struct std::hash<torc::Address> {
  size_t operator()(const torc::Address& address) const noexcept;
};
