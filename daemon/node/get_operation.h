// GetOperation: a client's read. It asks every owner that is not known to be dead, joins what the
// level's number of them answer, and tells the client only what a majority holds, writing it back
// first where needed; replicas that answer later are repaired in the background. Driven by the
// Coordinator.
#pragma once

#include <string>

#include "daemon/node/operation.h"
#include "daemon/node/quorum_tally.h"
#include "storage/record.h"

namespace torc::node {

class GetOperation final : public Operation {
 public:
  GetOperation(OperationServices& services, RequestId request_id, OperationId id,
               uint32_t partition, GetRequest request);

  void on_merge_outcome(NodeId from, const MergeOutcome& outcome) override;
  void on_read_outcome(NodeId from, ReadOutcome outcome) override;

 private:
  enum class Stage {
    kAsking,     // nobody has been asked yet
    kReading,    // waits for the level's number of replies
    kPlacing,    // what was read is chosen, and waits for a majority to hold it
    kRepairing,  // the client has its answer; late replies may show a replica that needs it
  };

  void advance() override;
  void restart() override;
  void resend() override;
  void give_up() override;
  bool outlives_client() const override { return false; }

  void ask(uint32_t index);
  // Joins a replica's record into what was read. False when it is not a record.
  bool join_in(uint32_t index, std::string record);
  // Whether a replica with this record holds all of what was read.
  bool covers(const std::string& record) const;
  // What was read so far is what the client will be told, once a majority holds it.
  void choose();
  void note_late_record(uint32_t index, std::string record);
  void repair(uint32_t index);
  void write_back(uint32_t index);
  void tell_client();

  Level level_;
  Stage stage_ = Stage::kAsking;
  pb::Envelope ask_;         // the key lives in it
  pb::Envelope write_back_;  // empty until one is needed
  std::string read_;         // the join of the replies; empty = absent
  uint32_t holders_ = 0;     // replicas that replied with all of `read_`, as a bit set
  QuorumTally replies_{0, 1};
  QuorumTally placed_{0, 1};
};

}  // namespace torc::node
