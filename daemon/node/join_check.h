// What a newcomer may call itself before anybody lets it in: the shape of its name, addresses,
// weight and rack. Pure.
#pragma once

#include <string>
#include <string_view>

#include "membership/topology.pb.h"

namespace torc::node {

constexpr size_t kNameBytesMax = 255;
constexpr size_t kRackBytesMax = 255;
constexpr uint32_t kWeightMax = 1'000'000;

// What is wrong with the member, in words; empty when nothing is.
std::string check_newcomer(const pb::TopologyMember& member);

// Words of a stranger, fit for a log: anything but printable ASCII replaced, at most `bytes_max`
// long.
std::string printable(std::string_view text, size_t bytes_max);

}  // namespace torc::node
