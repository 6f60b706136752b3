#include "membership/node_id.h"

#include <charconv>
#include <cstdio>

namespace torc {

std::string NodeId::to_string() const {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::optional<NodeId> NodeId::parse(std::string_view text) {
  if (text.size() != 16 || text.find_first_not_of("0123456789abcdef") != text.npos) {
    return std::nullopt;
  }
  NodeId id;
  std::from_chars(text.data(), text.data() + text.size(), id.value, 16);
  return id;
}

}  // namespace torc
