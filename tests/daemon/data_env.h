// DataEnv: the world around the data path of one daemon, for tests that tell a story: "n1"
// coordinates and stores for itself, the other members are played by the test. Nothing happens by
// itself: storage answers when run_storage() is called, timers fire in wait_ms(), peers say what
// the test makes them say.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/node/clock_keeper.h"
#include "daemon/node/context.h"
#include "daemon/node/coordinator.h"
#include "daemon/node/env.h"
#include "daemon/node/replica.h"
#include "membership/gossip.h"
#include "placement/claim.h"
#include "storage/batch_executor.h"
#include "storage/memory_engine.h"
#include "storage/record.h"

namespace torc::node {

// Member I of the stories: id, name and addresses.
inline NodeId id_of(int member) {
  return NodeId{0x1000u + static_cast<uint64_t>(member)};
}
inline std::string name_of_member(int member) {
  return "n" + std::to_string(member);
}
inline Address peer_of(int member) {
  return *Address::parse("10.0.0." + std::to_string(member) + ":7101");
}

inline storage::Version version_at(uint64_t hlc, int member) {
  return {hlc, id_of(member)};
}
inline std::string record_of(std::string_view value, storage::Version version) {
  return storage::encode({.version = version, .tombstone = false, .value = value, .expiry = {}});
}
inline std::string tombstone_of(storage::Version version) {
  return storage::encode({.version = version, .tombstone = true, .value = {}, .expiry = {}});
}

class DataEnv final : public Env, public membership::GossipEnv, public TopologyHooks {
 public:
  static constexpr int64_t kStartWallMs = 1'700'000'000'000;

  struct Sent {
    Address to;
    pb::Envelope message;
  };

  // Members 1..`members` are alive; the epoch is 1 and open for writes, and the clock is ready.
  explicit DataEnv(int members = 3, uint64_t random = 1) : random_(random), members_(members) {
    config.name = name_of_member(1);
    config.peer = peer_of(1);
    context.now = {Instant{} + std::chrono::hours(1), kStartWallMs};
    context.self = id_of(1);
    gossip_ = std::make_unique<membership::Gossip>(
        membership::GossipConfig{},
        membership::MemberInfo{.id = id_of(1),
                               .name = name_of_member(1),
                               .peer = peer_of(1),
                               .client = peer_of(1),
                               .incarnation = 1,
                               .liveness = membership::Liveness::kAlive,
                               .since = context.now.at},
        *this);
    gossip_->start(context.now.at);
    context.gossip = gossip_.get();
    for (int m = 2; m <= members; ++m) set_liveness(m, pb::ALIVE);
    auto opened = storage::BatchExecutor::open(engine);
    REQUIRE(opened.has_value());
    executor_ = *std::move(opened);
    coordinator = std::make_unique<Coordinator>(context, clock, replica, *this);
    set_view(1, true);
    clock.start(0);
    run_storage();
  }

  // --- the cluster

  struct ViewOptions {
    uint32_t replication = 3;
    int first_member = 1;
    bool is_told = true;  // otherwise the coordinator hears only of a later one
  };
  // An epoch of the members first..`members`; the partitions whose owners changed say so.
  void set_view(uint64_t epoch, bool open, ViewOptions options) {
    pb::TopologyBody body;
    body.set_cluster_id(7);
    body.set_epoch(epoch);
    body.set_founder(id_of(options.first_member).value);
    body.set_writes_open(open);
    body.mutable_parameters()->set_replication(options.replication);
    body.mutable_parameters()->set_partitions(16);
    body.mutable_parameters()->set_policy("token-ring");
    body.mutable_parameters()->set_request_timeout_ms_max(5000);
    std::vector<placement::RingMember> ring_members;
    for (int m = options.first_member; m <= members_; ++m) {
      ring_members.push_back({name_of_member(m)});
      pb::TopologyMember& member = *body.add_members();
      member.set_id(id_of(m).value);
      member.set_name(name_of_member(m));
      member.set_peer(peer_of(m).to_bytes());
      member.set_client(peer_of(m).to_bytes());
      member.set_weight(1);
      member.set_role(pb::ACTIVE);
    }
    const auto ring =
        placement::next_table(context.view ? &context.view->ring() : nullptr, ring_members,
                              {.policy = "token-ring",
                               .partitions = 16,
                               .replication = options.replication,
                               .epoch = epoch});
    REQUIRE(ring.has_value());
    body.set_ring(ring->encode());
    auto topology = membership::Topology::seal(body);
    REQUIRE(topology.has_value());
    auto view = ClusterView::build(*topology);
    REQUIRE_MESSAGE(view.has_value(), view.error());
    const bool first = context.view == nullptr;
    context.view = *view;
    if (!first && options.is_told) coordinator->on_view_changed();
  }
  void set_view(uint64_t epoch, bool open) { set_view(epoch, open, ViewOptions{}); }
  void add_members(int count) {
    for (int m = members_ + 1; m <= members_ + count; ++m) set_liveness(m, pb::ALIVE);
    members_ += count;
  }

  void set_liveness(int member, pb::Liveness liveness) {
    pb::GossipPacket packet;
    pb::MemberState& state = *packet.add_rumors();
    state.set_id(id_of(member).value);
    state.set_name(name_of_member(member));
    state.set_peer(peer_of(member).to_bytes());
    state.set_client(peer_of(member).to_bytes());
    state.set_incarnation(++incarnation_);
    state.set_liveness(liveness);
    const int teller = member == 2 ? 3 : 2;
    if (liveness != pb::ALIVE) state.set_accuser(id_of(teller).value);
    gossip_->on_packet(id_of(teller), peer_of(teller), packet, context.now.at);
  }

  // A key whose owners are exactly these members, in any order.
  std::string key_owned_by(const std::vector<int>& members) const {
    for (int i = 0; i < 10'000; ++i) {
      std::string key = "key" + std::to_string(i);
      const auto owners = context.view->owners(context.view->partition_of(key));
      size_t found = 0;
      for (const int m : members) found += std::count(owners.begin(), owners.end(), id_of(m));
      if (found == members.size() && owners.size() == members.size()) return key;
    }
    FAIL("no key has these owners");
    return {};
  }

  // --- clients

  RequestId put(std::string key, std::string value, Level level = {}) {
    coordinator->on_put(++last_request_, {.key = std::move(key),
                                          .value = std::move(value),
                                          .tombstone = false,
                                          .expires_in_ms = {},
                                          .expires_at_ms = {},
                                          .level = level});
    return last_request_;
  }
  RequestId put(PutRequest request) {
    coordinator->on_put(++last_request_, std::move(request));
    return last_request_;
  }
  RequestId remove(std::string key) {
    return put(PutRequest{.key = std::move(key),
                          .value = {},
                          .tombstone = true,
                          .expires_in_ms = {},
                          .expires_at_ms = {},
                          .level = {}});
  }
  RequestId get(std::string key, Level level = {}) {
    coordinator->on_get(++last_request_, {std::move(key), level});
    return last_request_;
  }

  // What the request was answered; nullptr when it was not. Being answered twice fails the test.
  template <typename Kind>
  const Kind* reply(RequestId request) const {
    const Reply* found = nullptr;
    for (const auto& [id, answer] : answers) {
      if (id != request) continue;
      REQUIRE(found == nullptr);
      found = &answer;
    }
    return found == nullptr ? nullptr : std::get_if<Kind>(found);
  }
  const ErrorReply& error(RequestId request, ErrorReply::Code code) const {
    const auto* error = reply<ErrorReply>(request);
    REQUIRE(error != nullptr);
    CHECK(error->code == code);
    return *error;
  }
  // The value that a get was told; "-" when the key was not found, "?" when there is no answer.
  std::string told(RequestId request) const {
    if (!answered(request)) return "?";
    const auto* got = reply<GetReply>(request);
    REQUIRE(got != nullptr);
    return got->found ? std::string(got->value()) : "-";
  }
  bool answered(RequestId request) const {
    for (const auto& [id, answer] : answers) {
      if (id == request) return true;
    }
    return false;
  }

  // --- peers

  // The last message to this member, which must be a merge (or a read), taken off `sent`.
  pb::MergeRequest take_merge(int member) { return take(member, &pb::Envelope::has_merge).merge(); }
  pb::ReadRequest take_read(int member) { return take(member, &pb::Envelope::has_read).read(); }
  size_t sent_to(int member) const {
    size_t count = 0;
    for (const Sent& one : sent) count += one.to == peer_of(member);
    return count;
  }

  void reply_merge(int member, uint64_t operation, pb::ReplicaStatus status = pb::OK,
                   storage::Version stale = {}, bool existed = false) {
    pb::Envelope message = from(member);
    message.mutable_merge_reply()->set_operation(operation);
    message.mutable_merge_reply()->set_status(status);
    message.mutable_merge_reply()->set_epoch(peer_epoch);
    message.mutable_merge_reply()->set_stale_hlc(stale.hlc);
    message.mutable_merge_reply()->set_stale_node(stale.node.value);
    message.mutable_merge_reply()->set_existed(existed);
    coordinator->on_merge_reply(message);
  }
  void reply_read(int member, uint64_t operation, std::string record,
                  pb::ReplicaStatus status = pb::OK) {
    pb::Envelope message = from(member);
    message.mutable_read_reply()->set_operation(operation);
    message.mutable_read_reply()->set_status(status);
    message.mutable_read_reply()->set_epoch(peer_epoch);
    message.mutable_read_reply()->set_record(std::move(record));
    coordinator->on_read_reply(message);
  }

  // A message from a peer: its sender's fields are filled in.
  static pb::Envelope from(int member) {
    pb::Envelope message;
    message.set_from(id_of(member).value);
    message.set_sender(peer_of(member).to_bytes());
    return message;
  }

  // --- the disk

  // Answers everything that waits for storage, and what comes of it.
  void run_storage() {
    while (!submitted.empty()) {
      auto requests = std::exchange(submitted, {});
      for (auto& result : executor_->execute_writes(std::move(requests), true)) {
        finish_storage(std::move(result));
      }
    }
  }
  // The disk refuses everything that waits.
  void fail_storage(const Status& status = {StatusCode::kIoError, "broken disk"}) {
    for (const auto& request : std::exchange(submitted, {})) {
      finish_storage({request.tag, status, {}});
    }
  }
  // What this daemon's own disk holds of the key.
  std::string stored(const std::string& key) {
    auto results = executor_->execute_reads(
        {{.tag = 0, .op = storage::ReadRecord{context.view->partition_of(key), key}}});
    REQUIRE(results.at(0).status.ok());
    return std::get<storage::ReadRecordResult>(results[0].value).record;
  }
  void store(const std::string& key, std::string record) {
    auto results = executor_->execute_writes(
        {{.tag = 0,
          .op = storage::MergeRecord{context.view->partition_of(key), key, std::move(record), 0}}},
        true);
    REQUIRE(results.at(0).status.ok());
  }

  // --- time

  void wait_ms(int64_t ms) {
    const Instant end = context.now.at + std::chrono::milliseconds(ms);
    const int64_t wall_end = context.now.wall_ms + ms;
    while (context.deadlines.next() <= end) {
      const Instant at = std::max(context.deadlines.next(), context.now.at);
      context.now.wall_ms +=
          std::chrono::duration_cast<std::chrono::milliseconds>(at - context.now.at).count();
      context.now.at = at;
      Deadlines::Due due{};
      REQUIRE(context.deadlines.pop(at, due));
      REQUIRE(due.part == Part::kCoordinator);
      coordinator->on_deadline(due.cookie);
    }
    context.now = {end, wall_end};
  }

  // --- Env
  void send(const Address& to, Channel channel, const pb::Envelope& message) override {
    CHECK(channel == Channel::kStream);
    pb::Envelope copy;
    REQUIRE(copy.ParseFromString(message.SerializeAsString()));
    sent.push_back({to, std::move(copy)});
  }
  void submit(storage::StorageRequest request) override { submitted.push_back(std::move(request)); }
  void answer(RequestId request, Reply reply) override {
    answers.emplace_back(request, std::move(reply));
  }
  uint64_t random() override { return random_ *= 6364136223846793005u; }
  void set_cluster(uint64_t) override {}
  void log(LogLevel, std::string_view) override {}
  void stop(ExitCode, std::string_view reason) override { FAIL(std::string(reason)); }

  // --- GossipEnv; its packets lead nowhere
  void send_packet(const Address&, const pb::GossipPacket&) override {}
  void send_push_pull(const Address&, const pb::PushPull&) override {}
  void on_member_changed(const membership::MemberInfo&) override {}
  void on_twin(const Address&) override {}

  // --- TopologyHooks
  void open_writes() override { ++open_writes_asked; }
  void behind(const Address& who, uint64_t epoch) override { behind_told.emplace_back(who, epoch); }

  NodeConfig config;
  NodeContext context{.env = *this, .config = config};
  ClockKeeper clock{context};
  Replica replica{context, *this};
  std::unique_ptr<Coordinator> coordinator;
  storage::MemoryEngine engine;

  uint64_t peer_epoch = 1;  // what the others' replies say
  std::vector<Sent> sent;
  std::vector<storage::StorageRequest> submitted;
  std::vector<std::pair<RequestId, Reply>> answers;
  int open_writes_asked = 0;
  std::vector<std::pair<Address, uint64_t>> behind_told;

 private:
  pb::Envelope take(int member, bool (pb::Envelope::*is_kind)() const) {
    for (size_t i = sent.size(); i-- > 0;) {
      if (sent[i].to != peer_of(member) || !(sent[i].message.*is_kind)()) continue;
      pb::Envelope message = std::move(sent[i].message);
      sent.erase(sent.begin() + static_cast<ptrdiff_t>(i));
      return message;
    }
    FAIL("nothing of the kind was sent to n", member);
    return {};
  }

  void finish_storage(storage::StorageResult result) {
    const auto part = static_cast<Part>(result.tag >> 56);
    const uint64_t cookie = result.tag & ((uint64_t{1} << 56) - 1);
    if (part == Part::kReplica) {
      replica.on_storage_done(cookie, result);
    } else {
      REQUIRE(part == Part::kClock);
      if (clock.on_storage_done(cookie, result)) coordinator->on_clock_ready();
    }
  }

  uint64_t random_;
  int members_;
  uint64_t incarnation_ = 1;
  RequestId last_request_ = 0;
  std::unique_ptr<membership::Gossip> gossip_;
  std::unique_ptr<storage::BatchExecutor> executor_;
};

}  // namespace torc::node
