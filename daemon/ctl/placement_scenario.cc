#include "daemon/ctl/placement_scenario.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <string_view>
#include <utility>

#include "placement/claim.h"
#include "placement/key_placer.h"

namespace torc::ctl {
namespace {

using placement::RingMember;
using Members = std::vector<RingMember>;

// In the order people think of them, simplest first.
constexpr std::array<std::string_view, 8> kAll = {"modulo",
                                                  "jump",
                                                  "maglev",
                                                  "token-ring",
                                                  "rendezvous",
                                                  "balanced",
                                                  "bounded-token-ring",
                                                  "bounded-rendezvous"};

std::unexpected<std::string> refuse(std::string_view flag, std::string_view why) {
  return std::unexpected(std::string(flag) + ": " + std::string(why));
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

// The parts between commas; an empty text has one empty part.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::expected<uint32_t, std::string> read_number(std::string_view flag, std::string_view text,
                                                 uint32_t least, uint32_t most) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    return refuse(flag, quoted(text) + " is not a number from " + std::to_string(least) + " to " +
                            std::to_string(most));
  }
  return value;
}

Members::iterator find(Members& members, std::string_view name) {
  return std::find_if(members.begin(), members.end(),
                      [&](const RingMember& member) { return member.name == name; });
}

class Reader {
 public:
  explicit Reader(const PlacementFlags& flags) : flags_(flags) {}

  std::expected<PlacementScenario, std::string> read() {
    for (const auto step :
         {&Reader::read_numbers, &Reader::read_hash, &Reader::read_policies, &Reader::read_members,
          &Reader::read_removals, &Reader::read_replacements, &Reader::read_reweights,
          &Reader::read_additions, &Reader::read_lists, &Reader::check_names}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(std::move(done.error()));
    }
    return std::move(scenario_);
  }

 private:
  using Done = std::expected<void, std::string>;

  Done read_into(uint32_t& value, std::string_view flag, const std::string& text, uint32_t least,
                 uint32_t most) {
    if (text.empty()) return {};
    const auto number = read_number(flag, text, least, most);
    if (!number) return std::unexpected(number.error());
    value = *number;
    return {};
  }

  Done read_numbers() {
    if (!flags_.keys.empty()) {
      const auto keys = read_number("--keys", flags_.keys, 1, kCompareKeysMax);
      if (!keys) return std::unexpected(keys.error());
      scenario_.keys = *keys;
      scenario_.replication = 1;  // unless --replication says more
    }
    const std::pair<uint32_t, uint32_t> copies{1, placement::kReplicationMax};
    if (auto done = read_into(scenario_.replication, "--replication", flags_.replication,
                              copies.first, copies.second);
        !done) {
      return done;
    }
    if (auto done = read_into(scenario_.partitions, "--partitions", flags_.partitions, 1,
                              placement::kPartitionsMax);
        !done) {
      return done;
    }
    if (!std::has_single_bit(scenario_.partitions)) {
      return refuse("--partitions", flags_.partitions + " is not a power of two");
    }
    return read_into(scenario_.vnodes, "--vnodes", flags_.vnodes, 1, kCompareVnodesMax);
  }

  Done read_hash() {
    if (flags_.hash.empty()) return {};
    const auto hash = placement::parse_ring_hash(flags_.hash);
    if (!hash) {
      return refuse("--hash", quoted(flags_.hash) + " is none of xxh3, md5, fnv1a32, crc32");
    }
    scenario_.hash = *hash;
    return {};
  }

  Done read_policies() {
    if (flags_.policies == "all") {
      scenario_.policies.assign(kAll.begin(), kAll.end());
      return {};
    }
    for (std::string& policy : split(flags_.policies)) {
      if (!placement::is_policy(policy) && !placement::is_key_algorithm(policy)) {
        return refuse("--policies", "unknown policy " + quoted(policy));
      }
      auto& known = scenario_.policies;
      if (std::find(known.begin(), known.end(), policy) != known.end()) {
        return refuse("--policies", quoted(policy) + " comes twice");
      }
      known.push_back(std::move(policy));
    }
    return {};
  }

  Done read_members() {
    if (!flags_.nodes.empty() && !flags_.names.empty()) {
      return refuse("--nodes", "cannot stand beside --names");
    }
    if (!flags_.names.empty()) {
      for (std::string& name : split(flags_.names)) {
        if (find(scenario_.before, name) != scenario_.before.end()) {
          return refuse("--names", quoted(name) + " comes twice");
        }
        scenario_.before.push_back({std::move(name)});
      }
    } else {
      uint32_t count = kCompareNodes;
      if (auto done = read_into(count, "--nodes", flags_.nodes, 1,
                                static_cast<uint32_t>(placement::kMembersMax));
          !done) {
        return done;
      }
      for (uint32_t i = 1; i <= count; ++i) scenario_.before.push_back({"n" + std::to_string(i)});
    }
    scenario_.after = scenario_.before;
    return {};
  }

  void say(std::string_view words, std::string_view more = {}, std::string_view most = {}) {
    if (!scenario_.change.empty()) scenario_.change += ", ";
    scenario_.change.append(words).append(more).append(most);
  }

  Done read_removals() {
    if (flags_.remove.empty()) return {};
    Members& after = scenario_.after;
    if (is_number(flags_.remove)) {
      const auto count =
          read_number("--remove", flags_.remove, 1, static_cast<uint32_t>(after.size() - 1));
      if (!count) return std::unexpected(count.error());
      for (uint32_t i = 0; i < *count; ++i) {
        say("- ", after.back().name);
        after.pop_back();
      }
      return {};
    }
    for (const std::string& name : split(flags_.remove)) {
      const auto member = find(after, name);
      if (member == after.end()) return refuse("--remove", "there is no member " + quoted(name));
      say("- ", name);
      after.erase(member);
    }
    if (after.empty()) return refuse("--remove", "nobody is left");
    return {};
  }

  // The two sides of each NAME=VALUE.
  std::expected<std::vector<std::pair<std::string, std::string>>, std::string> pairs(
      std::string_view flag, const std::string& text, std::string_view form) {
    std::vector<std::pair<std::string, std::string>> out;
    if (text.empty()) return out;
    for (const std::string& part : split(text)) {
      const size_t equals = part.rfind('=');
      if (equals == std::string::npos) {
        return refuse(flag, quoted(part) + " is not " + std::string(form));
      }
      out.emplace_back(part.substr(0, equals), part.substr(equals + 1));
      if (find(scenario_.after, out.back().first) == scenario_.after.end()) {
        return refuse(flag, "there is no member " + quoted(out.back().first));
      }
    }
    return out;
  }

  // The newcomer takes the place in the list, the weight and the rack of the one it replaces.
  Done read_replacements() {
    const auto replacements = pairs("--replace", flags_.replace, "OLD=NEW");
    if (!replacements) return std::unexpected(replacements.error());
    for (const auto& [old_name, new_name] : *replacements) {
      replaced_.emplace_back(old_name, new_name);
      const auto member = find(scenario_.after, old_name);
      if (new_name != old_name && find(scenario_.after, new_name) != scenario_.after.end()) {
        return refuse("--replace", quoted(new_name) + " is a member already");
      }
      member->name = new_name;
      say(old_name, " -> ", new_name);
    }
    return {};
  }

  Done read_reweights() {
    const auto reweights = pairs("--reweight", flags_.reweight, "NAME=WEIGHT");
    if (!reweights) return std::unexpected(reweights.error());
    for (const auto& [name, text] : *reweights) {
      const auto weight = read_number("--reweight", text, 0, placement::kWeightMax);
      if (!weight) return std::unexpected(weight.error());
      reweighted_.emplace_back(name, *weight);
      say(name, " = weight ", text);
    }
    return {};
  }

  Done read_additions() {
    if (flags_.add.empty()) return {};
    std::vector<std::string> names;
    if (is_number(flags_.add)) {
      const auto count =
          read_number("--add", flags_.add, 1, static_cast<uint32_t>(placement::kMembersMax));
      if (!count) return std::unexpected(count.error());
      for (size_t i = scenario_.before.size() + 1; names.size() < *count; ++i) {
        std::string name = "n" + std::to_string(i);
        const bool taken = find(scenario_.before, name) != scenario_.before.end() ||
                           find(scenario_.after, name) != scenario_.after.end();
        if (!taken) names.push_back(std::move(name));
      }
    } else {
      names = split(flags_.add);
    }
    for (const std::string& name : names) {
      if (find(scenario_.after, name) != scenario_.after.end()) {
        return refuse("--add", quoted(name) + " is a member already");
      }
      say("+ ", name);
      scenario_.after.push_back({name});
      added_.push_back(name);
    }
    return {};
  }

  // Weights and racks go to the members in the order they joined, the added ones last; a list that
  // is too short begins again.
  Done read_lists() {
    const size_t members = scenario_.before.size() + added_.size();
    std::vector<uint32_t> weights = {1};
    if (!flags_.weights.empty()) {
      weights.clear();
      for (const std::string& text : split(flags_.weights)) {
        const auto weight = read_number("--weights", text, 0, placement::kWeightMax);
        if (!weight) return std::unexpected(weight.error());
        weights.push_back(*weight);
      }
    }
    const std::vector<std::string> racks = split(flags_.racks);
    if (weights.size() > members || racks.size() > members) {
      return refuse(weights.size() > members ? "--weights" : "--racks",
                    "the list is longer than that of the members");
    }
    const auto set = [&](RingMember& member, size_t place) {
      member.weight = weights[place % weights.size()];
      member.rack = racks[place % racks.size()];
    };
    for (size_t i = 0; i < scenario_.before.size(); ++i) {
      RingMember& member = scenario_.before[i];
      set(member, i);
      std::string name = member.name;
      for (const auto& [old_name, new_name] : replaced_) {
        if (old_name == name) name = new_name;
      }
      if (const auto later = find(scenario_.after, name); later != scenario_.after.end()) {
        set(*later, i);
      }
    }
    for (size_t i = 0; i < added_.size(); ++i) {
      set(*find(scenario_.after, added_[i]), scenario_.before.size() + i);
    }
    for (const auto& [name, weight] : reweighted_) {
      find(scenario_.after, name)->weight = weight;
    }
    return {};
  }

  Done check_names() {
    for (const Members* members : {&scenario_.before, &scenario_.after}) {
      Members sorted = *members;
      std::sort(sorted.begin(), sorted.end(),
                [](const RingMember& a, const RingMember& b) { return a.name < b.name; });
      for (const std::string& policy : scenario_.policies) {
        std::string error = placement::check_members(sorted, policy);
        if (!error.empty()) return std::unexpected(std::move(error));
      }
    }
    return {};
  }

  const PlacementFlags& flags_;
  PlacementScenario scenario_;
  std::vector<std::string> added_;
  std::vector<std::pair<std::string, std::string>> replaced_;
  std::vector<std::pair<std::string, uint32_t>> reweighted_;
};

}  // namespace

std::expected<PlacementScenario, std::string> read_scenario(const PlacementFlags& flags) {
  return Reader(flags).read();
}

}  // namespace torc::ctl
