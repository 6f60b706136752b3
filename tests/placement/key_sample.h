// What the tests of rings over keys share: the keys key0, key1 ..., and how they fall on the nodes.
// Plain functions; for tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "placement/hash_ring.h"

namespace torc::placement {

inline std::vector<std::string> sample_keys(int count) {
  std::vector<std::string> keys;
  for (int i = 0; i < count; ++i) keys.push_back("key" + std::to_string(i));
  return keys;
}

inline std::vector<std::string> owners_of(const HashRing& ring,
                                          const std::vector<std::string>& keys) {
  const auto snapshot = ring.snapshot();
  std::vector<std::string> owners;
  for (const std::string& key : keys) {
    owners.emplace_back(snapshot->owner(key).value_or(std::string_view()));
  }
  return owners;
}

// Percent of the keys by owner.
inline std::map<std::string, double> shares_of(const std::vector<std::string>& owners) {
  std::map<std::string, double> shares;
  for (const std::string& owner : owners) {
    shares[owner] += 100.0 / static_cast<double>(owners.size());
  }
  return shares;
}

}  // namespace torc::placement
