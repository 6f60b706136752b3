// QuorumTally: counts distinct replicas that agreed or failed, and says whether the needed number
// is met or lost. Never goes back from met or lost. Pure.
#pragma once

#include <cstdint>

namespace torc::node {

class QuorumTally {
 public:
  enum class State { kPending, kMet, kLost };

  // REQUIRES: replicas <= 64.
  QuorumTally(uint32_t replicas, uint32_t needed) : replicas_(replicas), needed_(needed) {}

  // `replica` is its place in the preference list. A later word of the same replica replaces
  // nothing.
  void agree(uint32_t replica);
  void fail(uint32_t replica);

  bool agreed(uint32_t replica) const { return (agreed_ >> replica) & 1; }
  bool failed(uint32_t replica) const { return (failed_ >> replica) & 1; }
  uint32_t agreed_count() const;
  // As bit sets.
  uint64_t agreed_set() const { return agreed_; }
  uint64_t failed_set() const { return failed_; }
  State state() const;

 private:
  uint32_t replicas_;
  uint32_t needed_;
  uint64_t agreed_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace torc::node
