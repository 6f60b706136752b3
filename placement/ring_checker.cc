#include "placement/ring_checker.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "placement/claim.h"
#include "placement/policy.h"
#include "placement/share.h"

namespace torc::placement {
namespace {

std::string hex(uint64_t value) {
  std::array<char, 16> digits;
  digits.fill('0');
  char scratch[16];
  const char* end = std::to_chars(scratch, scratch + sizeof scratch, value, 16).ptr;
  std::copy_backward(scratch, const_cast<char*>(end), digits.end());
  return {digits.data(), digits.size()};
}

// The fraction with one decimal, rounded down.
std::string decimal(const Share& share) {
  const uint64_t tenths = share.numerator * 10 / share.denominator;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

uint32_t square_root(uint64_t value) {
  uint32_t root = 0;
  for (uint32_t bit = 1u << 31; bit > 0; bit >>= 1) {
    const uint64_t next = root | bit;
    if (next * next <= value) root |= bit;
  }
  return root;
}

class TableCheck {
 public:
  TableCheck(const RingSnapshot& table, std::span<const CheckedMember> members,
             const TableExpectation& expected)
      : table_(table), expected_(expected) {
    for (const CheckedMember& member : members) members_.push_back(member);
    std::sort(members_.begin(), members_.end(),
              [](const auto& a, const auto& b) { return a.member.name < b.member.name; });
    for (const CheckedMember& member : members_) ring_members_.push_back(member.member);
  }

  std::vector<std::string> run() {
    if (!is_policy(expected_.policy)) {
      say("unknown placement policy '" + expected_.policy + "'");
    } else if (std::string error = check_members(ring_members_, expected_.policy); !error.empty()) {
      say(std::move(error));
    } else {
      check();
    }
    if (left_out_ > 0) {
      violations_.push_back("and " + std::to_string(left_out_) + " more violations");
    }
    return std::move(violations_);
  }

 private:
  void say(std::string violation) {
    if (violations_.size() < expected_.violations_max) {
      violations_.push_back(std::move(violation));
    } else {
      ++left_out_;
    }
  }

  void check() {
    if (expected_.digest && *expected_.digest != table_.placement_digest()) {
      say("the table's digest is " + hex(table_.placement_digest()) + ", not " +
          hex(*expected_.digest));
    }
    for (const std::string& name : table_.members()) {
      const auto found = std::lower_bound(members_.begin(), members_.end(), name,
                                          [](const CheckedMember& member, const std::string& key) {
                                            return member.member.name < key;
                                          });
      const bool known = found != members_.end() && found->member.name == name;
      index_.push_back(known ? static_cast<MemberIndex>(found - members_.begin()) : kNobody);
    }
    const RackRule racks(ring_members_, table_.replication());
    owned_.assign(members_.size(), 0);
    for (uint32_t p = 0; p < table_.partitions(); ++p) check_partition(p, racks);
    check_shares(racks);
  }

  void check_partition(uint32_t p, const RackRule& racks) {
    const std::string partition = "partition " + std::to_string(p);
    const auto owners = table_.owners(p);
    std::vector<uint32_t> in_rack(racks.count, 0);
    for (size_t i = 0; i < owners.size(); ++i) {
      const std::string& name = table_.members()[owners[i]];
      if (std::find(owners.begin(), owners.begin() + static_cast<std::ptrdiff_t>(i), owners[i]) !=
          owners.begin() + static_cast<std::ptrdiff_t>(i)) {
        say(partition + " names the owner '" + name + "' twice");
        continue;
      }
      const MemberIndex m = index_[owners[i]];
      if (m == kNobody) {
        say(partition + " has the owner '" + name + "', who is no member");
        continue;
      }
      ++owned_[m];
      if (!members_[m].is_live) say(partition + " has the owner '" + name + "', who is not live");
      const RingMember& member = ring_members_[m];
      if (member.weight == 0) {
        say(partition + " has the owner '" + name + "', whose weight is 0");
      } else if (++in_rack[racks.of[m]] == racks.per_rack_max + 1) {
        say(partition + " has more than " + std::to_string(racks.per_rack_max) +
            " owners in the rack '" + member.rack + "'");
      }
    }
    if (owners.size() < racks.row_owners) {
      say(partition + " has " + std::to_string(owners.size()) + " owners; the members allow " +
          std::to_string(racks.row_owners));
    }
  }

  void check_shares(const RackRule& racks) {
    const std::vector<Share> shares = fair_shares(ring_members_, racks, table_.partitions());
    for (size_t m = 0; m < members_.size(); ++m) {
      const auto [least, most] = bounds(shares[m]);
      if (least <= owned_[m] && owned_[m] <= most) continue;
      say("member '" + ring_members_[m].name + "' owns " + std::to_string(owned_[m]) +
          " partitions; its share is " + decimal(shares[m]) + ", and " + expected_.policy +
          " allows " + std::to_string(least) + " to " + std::to_string(most));
    }
  }

  std::pair<uint32_t, uint32_t> bounds(const Share& share) const {
    if (expected_.policy == "balanced") return {share.floor(), share.ceil()};
    if (expected_.policy.starts_with("bounded-")) {
      return {0, std::min(share.bound(expected_.load_percent), table_.partitions())};
    }
    // Twice the share, as racks of unequal sizes skew a walk, and six standard deviations.
    return {0, 2 * share.ceil() + 6 * (square_root(share.ceil()) + 1)};
  }

  const RingSnapshot& table_;
  const TableExpectation& expected_;
  std::vector<CheckedMember> members_;    // sorted by name
  std::vector<RingMember> ring_members_;  // likewise
  std::vector<MemberIndex> index_;        // of the table's members in ours
  std::vector<uint32_t> owned_;
  std::vector<std::string> violations_;
  size_t left_out_ = 0;
};

}  // namespace

std::vector<std::string> check_table(const RingSnapshot& table,
                                     std::span<const CheckedMember> members,
                                     const TableExpectation& expected) {
  return TableCheck(table, members, expected).run();
}

std::vector<std::string> check_agreement(std::span<const DaemonView> daemons) {
  using Key = std::pair<uint64_t, std::string>;
  std::map<Key, size_t> votes;
  for (const DaemonView& daemon : daemons) {
    if (daemon.ring) ++votes[{daemon.ring->epoch, daemon.ring->digest}];
  }
  // Of two with as many votes the newer epoch, which the others may only not have reached yet.
  const auto agreed =
      std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) {
        return a.second < b.second || (a.second == b.second && a.first < b.first);
      });
  std::vector<std::string> violations;
  if (daemons.empty()) violations.push_back("there is no daemon to ask");
  for (const DaemonView& daemon : daemons) {
    if (!daemon.ring) {
      violations.push_back("daemon '" + daemon.name + "' does not answer");
      continue;
    }
    const auto& [epoch, digest] = agreed->first;
    if (daemon.ring->epoch != epoch) {
      violations.push_back("daemon '" + daemon.name + "' is in epoch " +
                           std::to_string(daemon.ring->epoch) + ", not in epoch " +
                           std::to_string(epoch) + " as the others");
    } else if (daemon.ring->digest != digest) {
      violations.push_back("daemon '" + daemon.name + "' reports the digest " +
                           daemon.ring->digest + ", not " + digest + " as the others");
    }
  }
  return violations;
}

}  // namespace torc::placement
