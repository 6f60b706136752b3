#include "daemon/ctl/placement_table.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "placement/claim.h"

namespace torc::ctl {
namespace {

using Json = nlohmann::ordered_json;
using placement::CheckedMember;
using placement::MemberIndex;
using placement::RingSnapshot;

std::string hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::optional<uint64_t> number_of(const Json& object, const char* field, uint64_t missing) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return missing;
  if (!found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

std::optional<std::string> text_of(const Json& object, const char* field) {
  const auto found = object.find(field);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

class Reader {
 public:
  explicit Reader(std::string_view text) : json_(Json::parse(text, nullptr, false)) {}

  std::expected<SavedTable, std::string> read() {
    if (json_.is_discarded()) return std::unexpected("not JSON");
    if (!json_.is_object()) return std::unexpected("not a JSON object");
    for (const auto step : {&Reader::read_head, &Reader::read_members, &Reader::read_owners}) {
      if (std::string error = (this->*step)(); !error.empty()) {
        return std::unexpected(std::move(error));
      }
    }
    const uint32_t rows = partitions_;
    return SavedTable{RingSnapshot(partitions_, replication_, std::move(names_), std::move(owners_),
                                   std::move(counts_), std::vector<uint64_t>(rows, 1)),
                      std::move(members_), std::move(expected_), std::move(violations_)};
  }

 private:
  std::string read_head() {
    const auto policy = text_of(json_, "policy");
    if (!policy || !placement::is_policy(*policy)) return "'policy' names no policy";
    expected_.policy = *policy;
    const auto partitions = number_of(json_, "partitions", 0);
    if (!partitions || !std::has_single_bit(*partitions) ||
        *partitions > placement::kPartitionsMax) {
      return "'partitions' is not a power of two from 1 to " +
             std::to_string(placement::kPartitionsMax);
    }
    partitions_ = static_cast<uint32_t>(*partitions);
    const auto replication = number_of(json_, "replication", 0);
    if (!replication || *replication < 1 || *replication > placement::kReplicationMax) {
      return "'replication' is not a number from 1 to " +
             std::to_string(placement::kReplicationMax);
    }
    replication_ = static_cast<uint32_t>(*replication);
    const auto digest = text_of(json_, "table_digest");
    if (!digest) return "'table_digest' is not text";
    if (digest->empty()) return {};
    uint64_t value = 0;
    const char* end = digest->data() + digest->size();
    const auto [stop, error] = std::from_chars(digest->data(), end, value, 16);
    if (error != std::errc() || stop != end) return "'table_digest' is not a hexadecimal number";
    expected_.digest = value;
    return {};
  }

  std::string read_members() {
    const auto list = json_.find("members");
    if (list == json_.end() || !list->is_array() || list->empty()) return "'members' is no list";
    if (list->size() > placement::kMembersMax) return "'members' is too long";
    for (const Json& entry : *list) {
      const std::string which = "member " + std::to_string(members_.size() + 1);
      if (!entry.is_object()) return which + " is no object";
      const auto name = text_of(entry, "name");
      if (!name || name->empty()) return which + " has no 'name'";
      const auto weight = number_of(entry, "weight", 1);
      if (!weight || *weight > std::numeric_limits<uint32_t>::max()) {
        return which + " has a 'weight' that is no number from 0";
      }
      const auto rack = text_of(entry, "rack");
      const auto liveness = text_of(entry, "liveness");
      if (!rack || !liveness) return which + " has a 'rack' or 'liveness' that is no text";
      members_.push_back({{*name, static_cast<uint32_t>(*weight), *rack},
                          liveness->empty() || *liveness == "alive"});
    }
    return {};
  }

  std::string read_owners() {
    const auto list = json_.find("owners");
    if (list == json_.end() || !list->is_array()) {
      return "'owners' is missing: a list of names for each partition";
    }
    if (list->size() != partitions_) {
      return "'owners' has " + std::to_string(list->size()) + " rows for " +
             std::to_string(partitions_) + " partitions";
    }
    for (const CheckedMember& member : members_) names_.push_back(member.member.name);
    for (const Json& row : *list) {
      if (!row.is_array()) return "'owners' has a row that is no list";
      for (const Json& name : row) {
        if (!name.is_string()) return "'owners' has a name that is no text";
        names_.push_back(name.get<std::string>());
      }
    }
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    if (names_.size() > 2 * placement::kMembersMax) return "'owners' has too many names";

    owners_.assign(size_t{partitions_} * replication_, 0);
    counts_.assign(partitions_, 0);
    for (uint32_t p = 0; p < partitions_; ++p) {
      const Json& row = (*list)[p];
      if (row.size() > replication_) {
        violations_.push_back("partition " + std::to_string(p) + " lists " +
                              std::to_string(row.size()) + " owners; the replication is " +
                              std::to_string(replication_));
      }
      for (const Json& name : row) {
        if (counts_[p] == replication_) break;
        const auto found =
            std::lower_bound(names_.begin(), names_.end(), name.get_ref<const std::string&>());
        owners_[size_t{p} * replication_ + counts_[p]++] =
            static_cast<MemberIndex>(found - names_.begin());
      }
    }
    return {};
  }

  const Json json_;
  uint32_t partitions_ = 0;
  uint32_t replication_ = 0;
  placement::TableExpectation expected_{};
  std::vector<CheckedMember> members_;
  std::vector<std::string> names_;
  std::vector<MemberIndex> owners_;
  std::vector<uint8_t> counts_;
  std::vector<std::string> violations_;
};

}  // namespace

std::string table_json(const RingSnapshot& table, std::span<const placement::RingMember> members,
                       std::string_view policy) {
  Json list = Json::array();
  for (const placement::RingMember& member : members) {
    list.push_back({{"name", member.name}, {"weight", member.weight}, {"rack", member.rack}});
  }
  Json owners = Json::array();
  for (uint32_t p = 0; p < table.partitions(); ++p) {
    Json row = Json::array();
    for (const MemberIndex owner : table.owners(p)) row.push_back(table.members()[owner]);
    owners.push_back(std::move(row));
  }
  const Json json = {{"policy", policy},
                     {"partitions", table.partitions()},
                     {"replication", table.replication()},
                     {"table_digest", hex(table.placement_digest())},
                     {"members", std::move(list)},
                     {"owners", std::move(owners)}};
  return json.dump() + "\n";
}

std::expected<SavedTable, std::string> read_table(std::string_view json) {
  return Reader(json).read();
}

}  // namespace torc::ctl
