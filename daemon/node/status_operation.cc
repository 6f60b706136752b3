#include "daemon/node/status_operation.h"

#include <algorithm>
#include <vector>

#include "daemon/node/status_json.h"

namespace torc::node {

void StatusOperation::start() {
  pb::Envelope question;
  question.mutable_status()->set_operation(operation_);
  asked_ = 1;
  for (const pb::TopologyMember& member : context_.view->topology().body().members()) {
    const NodeId id{member.id()};
    const membership::Liveness liveness = context_.liveness_of(id);
    if (id == context_.self || member.role() == pb::REMOVED ||
        liveness == membership::Liveness::kDead || liveness == membership::Liveness::kLeft) {
      continue;
    }
    ++asked_;
    context_.send(context_.address_of(id), Channel::kStream, question);
  }
  timer_ = context_.deadlines.set(context_.now.at + kTimeout, Part::kStatus, operation_);
}

bool StatusOperation::on_reply(NodeId from, const pb::StatusReply& reply) {
  if (context_.named_in_topology(from) == nullptr) return false;
  replies_.insert_or_assign(from, reply);
  if (replies_.size() < asked_) return false;
  stop();
  answer();
  return true;
}

void StatusOperation::on_deadline() {
  answer();
}

void StatusOperation::answer() {
  switch (kind_) {
    case Kind::kStatus:
      return context_.env.answer(client_, TextReply{status_json(context_, replies_)});
    case Kind::kSize:
      return context_.env.answer(
          client_, IntegerReply{static_cast<int64_t>(cluster_keys(*context_.view, replies_))});
  }
}

uint64_t cluster_keys(const ClusterView& view, const StatusOperation::Replies& replies) {
  const std::vector<uint32_t> owned = view.ring().owned_counts();
  uint64_t owned_total = 0;
  for (const uint32_t count : owned) owned_total += count;

  uint64_t owned_answered = 0;
  uint64_t held = 0;
  uint64_t headed = 0;
  for (const auto& [id, reply] : replies) {
    const pb::TopologyMember* member = view.topology().find(id);
    if (member == nullptr) continue;
    const auto& names = view.ring().members();
    const auto at = std::lower_bound(names.begin(), names.end(), member->name());
    if (at == names.end() || *at != member->name()) continue;
    owned_answered += owned[static_cast<size_t>(at - names.begin())];
    held += reply.keys();
    headed += reply.primary_keys();
  }
  if (owned_answered == owned_total || owned_answered == 0) return headed;
  // `held` counts each key once per answering owner, of whom a partition has this many on average.
  const double owners_answered = static_cast<double>(owned_answered) / view.ring().partitions();
  return static_cast<uint64_t>(static_cast<double>(held) / owners_answered + 0.5);
}

}  // namespace torc::node
