// PutOperation: a client's write or deletion. It mints a version, sends the record to every owner
// that is not known to be dead, and answers when the level's number of replicas have it durably; a
// newer version found there makes it try again above that version. Driven by the Coordinator.
#pragma once

#include <string>

#include "daemon/node/operation.h"
#include "daemon/node/quorum_tally.h"

namespace torc::node {

class PutOperation final : public Operation {
 public:
  PutOperation(OperationServices& services, RequestId request_id, OperationId id,
               uint32_t partition, PutRequest request);

  void on_merge_outcome(NodeId from, const MergeOutcome& outcome) override;
  void on_read_outcome(NodeId /*from*/, ReadOutcome /*outcome*/) override {}  // it asked for none

 private:
  enum class Stage {
    kOpening,  // waits for an epoch that is open for writes
    kMinting,  // waits for the clock's ceiling
    kPlacing,  // waits for replicas
  };

  void advance() override;
  void restart() override;
  void resend() override;
  void give_up() override;
  bool outlives_client() const override { return true; }

  // False when it ended in an error.
  bool choose_owners();
  void encode_record(uint64_t hlc);
  // Sends the record to all owners of a fresh attempt.
  void place();
  void send_to(uint32_t index);
  bool can_be_met_without_stale() const;
  // The replicas that are STALE will take a newer version.
  void try_a_newer_version();

  Level level_;
  bool tombstone_;
  std::string value_;        // until the first version is minted; then it is in the record
  size_t value_offset_ = 0;  // of the value in the record
  uint64_t expires_at_ = 0;  // HLC; 0 = never

  Stage stage_ = Stage::kOpening;
  bool sent_ = false;     // some replica may have the record
  bool existed_ = false;  // a replica, in any attempt, held a live value before
  storage::Version version_;
  pb::Envelope merge_;  // the key and the record live in it
  uint32_t needed_ = 0;
  QuorumTally tally_{0, 1};
  uint32_t stale_ = 0;  // owners that hold a newer version, as a bit set
};

}  // namespace torc::node
