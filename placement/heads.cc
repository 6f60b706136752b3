#include "placement/heads.h"

#include <algorithm>
#include <utility>

namespace torc::placement {
namespace {

class HeadBalance {
 public:
  HeadBalance(OwnerTable& table, size_t members)
      : table_(table), heads_(members, 0), least_(members, 0), most_(members, 0) {
    std::vector<uint32_t> owned(members, 0);
    for (uint32_t p = 0; p < table.partitions(); ++p) {
      for (const MemberIndex owner : table.row(p)) ++owned[owner];
      ++heads_[table.row(p)[0]];
    }
    const uint32_t width = table.owner_counts[0];
    for (size_t m = 0; m < members; ++m) {
      least_[m] = owned[m] / width;
      most_[m] = (owned[m] + width - 1) / width;
    }
  }

  // A row's owners each lead 1/width of it: this fractional choice lies within the limits, so a
  // whole one does too, and chains of exchanges reach it.
  void run() {
    for (uint32_t p = 0; p < table_.partitions(); ++p) hand_over(p);
    while (exchange([&](size_t m) { return heads_[m] > most_[m]; },
                    [&](size_t m) { return heads_[m] < most_[m]; })) {
    }
    while (exchange([&](size_t m) { return heads_[m] > least_[m]; },
                    [&](size_t m) { return heads_[m] < least_[m]; })) {
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // The usual case, a chain of one.
  void hand_over(uint32_t p) {
    const auto row = table_.row(p);
    const bool too_many = heads_[row[0]] > most_[row[0]];
    if (!too_many && heads_[row[0]] <= least_[row[0]]) return;
    uint32_t best = 0;
    for (uint32_t i = 1; i < row.size(); ++i) {
      if (heads_[row[i]] >= (too_many ? most_ : least_)[row[i]]) continue;
      if (best == 0 || room(row[i]) > room(row[best])) best = i;
    }
    if (best != 0) lead(p, best);
  }

  uint32_t room(MemberIndex m) const { return most_[m] - heads_[m]; }

  void lead(uint32_t p, uint32_t place) {
    MemberIndex* const row = table_.owners.data() + size_t{p} * table_.replication;
    --heads_[row[0]];
    ++heads_[row[place]];
    std::swap(row[0], row[place]);
  }

  // A shortest chain from a member that `gives` to one that `takes`: each hands the lead of one
  // partition to the next. False when there is none.
  template <typename Gives, typename Takes>
  bool exchange(Gives gives, Takes takes) {
    const size_t members = heads_.size();
    if (!any(takes)) return false;
    std::vector<MemberIndex> queue;
    std::vector<std::pair<uint32_t, uint32_t>> reached_by(members, {kNone, 0});  // partition, place
    std::vector<bool> reached(members, false);
    for (size_t m = 0; m < members; ++m) {
      if (!gives(m)) continue;
      reached[m] = true;
      queue.push_back(static_cast<MemberIndex>(m));
    }
    if (queue.empty()) return false;
    const std::vector<std::vector<uint32_t>> led = partitions_led();
    for (size_t next = 0; next < queue.size(); ++next) {
      for (const uint32_t p : led[queue[next]]) {
        const auto row = table_.row(p);
        for (uint32_t i = 1; i < row.size(); ++i) {
          if (reached[row[i]]) continue;
          reached[row[i]] = true;
          reached_by[row[i]] = {p, i};
          if (takes(row[i])) {
            lead_along(row[i], reached_by);
            return true;
          }
          queue.push_back(row[i]);
        }
      }
    }
    return false;
  }

  template <typename Is>
  bool any(Is is) const {
    for (size_t m = 0; m < heads_.size(); ++m) {
      if (is(m)) return true;
    }
    return false;
  }

  std::vector<std::vector<uint32_t>> partitions_led() const {
    std::vector<std::vector<uint32_t>> led(heads_.size());
    for (uint32_t p = 0; p < table_.partitions(); ++p) led[table_.row(p)[0]].push_back(p);
    return led;
  }

  void lead_along(MemberIndex end, const std::vector<std::pair<uint32_t, uint32_t>>& reached_by) {
    for (MemberIndex m = end; reached_by[m].first != kNone;) {
      const auto [partition, place] = reached_by[m];
      m = table_.row(partition)[0];
      lead(partition, place);
    }
  }

  OwnerTable& table_;
  std::vector<uint32_t> heads_;  // by member, as the limits
  std::vector<uint32_t> least_;
  std::vector<uint32_t> most_;
};

}  // namespace

void even_heads(OwnerTable& table, size_t members) {
  if (table.owner_counts[0] > 1) HeadBalance(table, members).run();
}

}  // namespace torc::placement
