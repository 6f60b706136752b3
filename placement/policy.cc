#include "placement/policy.h"

#include <algorithm>
#include <array>

#include "placement/balanced.h"
#include "placement/bounded.h"
#include "placement/modulo.h"
#include "placement/rendezvous.h"
#include "placement/token_ring.h"

namespace torc::placement {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "balanced",   "bounded-rendezvous",    "bounded-token-ring", "modulo",
    "rendezvous", "rendezvous-rack-first", "token-ring"};

constexpr std::array<Policy, kNames.size()> kPolicies = {
    claim_balanced,
    claim_bounded_rendezvous,
    claim_bounded_token_ring,
    claim_modulo,
    [](const PolicyInput& input) { return claim_rendezvous(input); },
    claim_rendezvous_rack_first,
    [](const PolicyInput& input) { return claim_token_ring(input); }};

}  // namespace

Policy find_policy(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return found == kNames.end() ? nullptr : kPolicies[static_cast<size_t>(found - kNames.begin())];
}

std::span<const std::string_view> policy_names() {
  return kNames;
}

bool has_tokens(std::string_view policy) {
  return policy == "token-ring" || policy == "bounded-token-ring";
}

}  // namespace torc::placement
