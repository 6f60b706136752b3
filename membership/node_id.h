// NodeId: the random 64-bit identity of one data directory, minted once and never reused.
// Zero means "nobody". A plain value, free to use from any thread and any folder.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace torc {

struct NodeId {
  uint64_t value = 0;

  constexpr auto operator<=>(const NodeId&) const = default;
  constexpr explicit operator bool() const { return value != 0; }

  // 16 lower-case hex digits.
  std::string to_string() const;
  // The inverse of to_string(); nullopt for anything else.
  static std::optional<NodeId> parse(std::string_view text);
};

}  // namespace torc

template <>
struct std::hash<torc::NodeId> {
  size_t operator()(torc::NodeId id) const noexcept { return id.value; }  // already random
};
