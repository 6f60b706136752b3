// Operation: one client request that waits for replicas, and what all kinds share: the set it
// addresses, its one timer, its answer. It answers its client exactly once, within the deadline,
// and is driven by the Coordinator only. Events note what happened; each kind decides in one place,
// advance().
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "daemon/node/clock_keeper.h"
#include "daemon/node/context.h"
#include "daemon/node/replica.h"
#include "daemon/node/topology_hooks.h"

namespace torc::node {

// A silent replica is asked again after the first delay, then after twice as long, up to the last.
constexpr Duration kRetryDelayFirst = std::chrono::milliseconds(250);
constexpr Duration kRetryDelayMax = std::chrono::seconds(1);
// A replica that refused (it is catching up, or its queue is full) is asked again sooner, once.
constexpr Duration kRetryDelayRefused = std::chrono::milliseconds(20);
// A daemon that has just started, or learnt of a member, gives it this long to be heard of before
// it tells clients that nobody is there.
constexpr Duration kFirstWordMax = std::chrono::seconds(2);
// When the topology names no longest time for a request.
constexpr uint32_t kRequestTimeoutMsDefault = 5000;

// Bounds what operations keep after their client's answer, to repair replicas that answer late.
struct RepairBudget {
  size_t bytes_max = 64 * 1024 * 1024;
  size_t bytes = 0;
};

// What operations act through.
struct OperationServices {
  NodeContext& context;
  ClockKeeper& clock;
  Replica& replica;
  TopologyHooks& hooks;
  RepairBudget repairs{};
};

// One attempt's id: the slot in the low bits, a generation above. It changes with every attempt, so
// that the answers to an earlier one are nobody's.
using OperationId = uint64_t;
constexpr int kOperationSlotBits = 20;
constexpr OperationId kOperationGeneration = OperationId{1} << kOperationSlotBits;

// How many of `owners` replicas a level needs; the error says why it cannot be.
std::expected<uint32_t, std::string> replicas_needed(Level level, uint32_t owners);

class Operation {
 public:
  Operation(OperationServices& services, RequestId request, OperationId id, uint32_t partition);
  virtual ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  void start();
  // One replica's word, on the current attempt.
  virtual void on_merge_outcome(NodeId from, const MergeOutcome& outcome) = 0;
  virtual void on_read_outcome(NodeId from, ReadOutcome outcome) = 0;
  // The one timer fired: a resend is due, or the deadline has come.
  void on_timer();
  void on_view_changed();
  void on_clock_ready() { advance(); }
  // What was sent there may be lost; the next resend is not brought forward, since the peer may be
  // down.
  void on_peer_lost(const Address& peer);
  void on_client_lost();

  OperationId id() const { return id_; }
  RequestId request() const { return request_; }
  // The client has its answer, and what goes on is within the repair budget.
  bool in_background() const { return kept_bytes_ != 0; }
  // Nothing more is to happen; the coordinator forgets it.
  bool finished() const { return finished_; }

 protected:
  // Decides what is next from all that is known; may be called at any time.
  virtual void advance() = 0;
  // The partition's owners changed: what was heard from the old ones no longer counts.
  virtual void restart() = 0;
  virtual void resend() = 0;
  virtual void give_up() = 0;
  // Whether it goes on when its client is gone.
  virtual bool outlives_client() const = 0;

  NodeContext& context() const { return services_.context; }
  OperationServices& services() const { return services_; }
  const ClusterView& view() const { return *services_.context.view; }
  uint32_t partition() const { return partition_; }
  // The epoch that this attempt's requests are stamped with.
  uint64_t epoch() const { return epoch_; }

  // Begins an attempt at the owners as the view has them now.
  void address_owners();
  uint32_t owner_count() const { return owner_count_; }
  NodeId owner(uint32_t index) const { return owners_[index]; }
  bool is_self(uint32_t index) const { return owners_[index] == context().self; }
  // nullopt: not one of the addressed owners.
  std::optional<uint32_t> index_of(NodeId id) const;
  // Not known to be dead. Suspects are reachable.
  bool reachable(uint32_t index) const;
  // Nothing has been heard of it, but it is too early to hold that against it.
  bool may_yet_be_heard(uint32_t index) const;
  // False when too few owners are reachable: UNAVAILABLE is answered, or, while some may yet be
  // heard of, nothing yet.
  bool check_reachable(uint32_t needed);

  // Owners that were sent something and have not answered, as a bit set.
  uint32_t awaited() const { return awaited_; }
  bool is_awaited(uint32_t index) const { return (awaited_ >> index & 1) != 0; }
  void await(uint32_t index) { awaited_ |= 1u << index; }
  void heard_from(uint32_t index) { awaited_ &= ~(1u << index); }
  // Awaited, and its stream has not broken since.
  bool is_expected(uint32_t index) const { return (awaited_ & ~stream_lost_) >> index & 1; }
  // BEHIND, AHEAD, NOT_OWNER and BUSY: asks for a newer view where there is one, and retries soon.
  void note_refusal(uint32_t index, uint64_t epoch);
  void send(uint32_t index, pb::Envelope& message);

  // "n2 n3 answered, n1 failed, n4 did not": `answered` and `failed` are bit sets of owners.
  std::string who_answered(uint64_t answered, uint64_t failed) const;

  // Tells the client, if it is still there.
  void answer(Reply reply);
  void fail(ErrorReply::Code code, std::string message);
  // Goes on in the background, keeping so many bytes; false when the budget does not allow it.
  bool go_on_in_background(size_t bytes);
  void finish();

 private:
  void arm(Instant at);
  std::string names(uint64_t owners) const;

  OperationServices& services_;
  const RequestId request_;
  OperationId id_;
  const uint32_t partition_;
  bool answered_ = false;
  bool finished_ = false;
  bool hurried_ = false;  // a refusal has brought a retry forward
  uint32_t owner_count_ = 0;
  uint64_t epoch_ = 0;  // 0: nobody is addressed yet
  uint32_t awaited_ = 0;
  uint32_t stream_lost_ = 0;
  std::array<NodeId, kOwnersMax> owners_{};
  Instant deadline_{};
  Instant retry_at_{};
  Duration retry_delay_ = kRetryDelayFirst;
  size_t kept_bytes_ = 0;  // of the repair budget
  Deadlines::Handle timer_ = 0;
};

}  // namespace torc::node
