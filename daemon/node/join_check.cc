#include "daemon/node/join_check.h"

#include <algorithm>
#include <utility>

#include "membership/address.h"

namespace torc::node {
namespace {

bool is_unprintable(char c) {
  return c < 0x20 || c > 0x7e;  // not ASCII either
}

bool is_printable(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_unprintable);
}

}  // namespace

std::string check_newcomer(const pb::TopologyMember& member) {
  if (member.id() == 0) return "a member needs a node id";
  if (member.name().empty() || member.name().size() > kNameBytesMax) {
    return "a name has 1 to " + std::to_string(kNameBytesMax) + " bytes";
  }
  if (!is_printable(member.name())) return "a name has printable ASCII characters only";
  for (const auto& [kind, bytes] :
       {std::pair("peer", &member.peer()), {"client", &member.client()}}) {
    const Address address = Address::from_bytes(*bytes);
    if (!address) return "the " + std::string(kind) + " address is missing";
    if (address.is_unspecified()) {
      return "nobody can be reached at the " + std::string(kind) + " address " +
             address.to_string();
    }
  }
  if (member.weight() < 1 || member.weight() > kWeightMax) {
    return "a weight is between 1 and " + std::to_string(kWeightMax);
  }
  if (member.rack().size() > kRackBytesMax || !is_printable(member.rack())) {
    return "a rack has at most " + std::to_string(kRackBytesMax) +
           " bytes, printable ASCII characters only";
  }
  return {};
}

std::string printable(std::string_view text, size_t bytes_max) {
  std::string result(text.substr(0, bytes_max));
  std::replace_if(result.begin(), result.end(), is_unprintable, '?');
  return result;
}

}  // namespace torc::node
