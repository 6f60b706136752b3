// StatusDesk: answers how much this daemon holds, to its peers and to its own status operations,
// and keeps the gauges of NodeMetrics fresh. Questions that come while the disk is being asked
// share the next asking. Driven by its Node.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "daemon/node/context.h"
#include "daemon/node/status_operation.h"

namespace torc::node {

class StatusDesk {
 public:
  static constexpr Duration kGaugeInterval = std::chrono::seconds(1);
  static constexpr size_t kOperationsMax = 1024;
  static constexpr size_t kQuestionsMax = 1024;  // of peers; more are not answered

  explicit StatusDesk(NodeContext& context) : context_(context) {}

  // This daemon has just become a member.
  void start();
  // REQUIRES for the rest: started.
  void on_command(RequestId id, StatusOperation::Kind kind);
  void on_question(const pb::Envelope& message);
  void on_reply(const pb::Envelope& message);
  void on_storage_done(const storage::StorageResult& result);
  void on_deadline(uint64_t cookie);
  void on_client_lost(RequestId id);

  size_t running() const { return operations_.size(); }

 private:
  static constexpr uint64_t kGaugeTimer = 0;  // other cookies are operations

  // A peer's question, or an own operation's.
  struct Question {
    Address peer;  // default: own
    uint64_t operation = 0;
  };

  void ask_disk();
  pb::StatusReply reply_from(const storage::ReadUsageResult& usage);

  NodeContext& context_;
  std::map<uint64_t, StatusOperation> operations_;
  uint64_t last_operation_ = 0;
  std::vector<Question> asked_;    // the disk's next answer is for them
  std::vector<Question> waiting_;  // came after the disk was asked
  bool disk_is_asked_ = false;
};

}  // namespace torc::node
