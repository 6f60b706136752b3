#include "daemon/node/topology_keeper.h"

#include <algorithm>
#include <utility>

#include "daemon/node/identity.h"
#include "daemon/node/next_epoch.h"

namespace torc::node {

using membership::Topology;

bool TopologyKeeper::resume(const pb::TopologyRecord& record) {
  auto topology = Topology::decode(record);
  if (!topology) {
    context_.env.stop(ExitCode::kFailed, "the stored topology is damaged: " + topology.error());
    return false;
  }
  if (!names_self(**topology)) {
    context_.env.stop(ExitCode::kRefused, "this daemon is no longer a member of its cluster");
    return false;
  }
  auto view = ClusterView::build(*topology);
  if (!view) {
    context_.env.stop(ExitCode::kFailed, "the stored topology is damaged: " + view.error());
    return false;
  }
  context_.view = *std::move(view);
  return true;
}

void TopologyKeeper::on_record(const pb::Envelope& message) {
  const uint64_t digest = message.topology().digest();
  if (forked_ || (storing_ != nullptr && digest == storing_->digest()) ||
      (waiting_ != nullptr && digest == waiting_->digest())) {
    return;
  }
  if (context_.view != nullptr && digest == context_.view->digest()) {
    return confirm(Address::from_bytes(message.sender()));
  }
  auto topology = Topology::decode(message.topology());
  if (!topology) {
    context_.env.log(LogLevel::kWarning, "ignored a topology record of " +
                                             NodeId{message.from()}.to_string() + ": " +
                                             topology.error());
    return;
  }
  offer(*std::move(topology));
}

void TopologyKeeper::offer(std::shared_ptr<const Topology> topology) {
  if (forked_) return;
  const ClusterView* newest = storing_ != nullptr ? storing_.get() : context_.view.get();
  if (newest != nullptr && topology->cluster_id() != newest->topology().cluster_id()) {
    context_.env.log(LogLevel::kWarning, "ignored a topology record of another cluster");
    return;
  }
  if (newest == nullptr && !names_self(*topology)) return;
  for (const ClusterView* known : {context_.view.get(), storing_.get()}) {
    if (known != nullptr && known->epoch() == topology->epoch() &&
        known->digest() != topology->digest()) {
      return fork("two topologies of epoch " + std::to_string(topology->epoch()));
    }
  }
  if (topology->epoch() <= newest_epoch()) return;

  context_.deadlines.cancel(std::exchange(pull_timer_, 0));
  waiting_ = std::move(topology);
  store_next();
}

void TopologyKeeper::store_next() {
  if (storing_ != nullptr || waiting_ == nullptr || forked_) return;
  const std::shared_ptr<const Topology> topology = std::exchange(waiting_, nullptr);
  auto view = ClusterView::build(topology);
  if (!view) {
    context_.alarm("epoch " + std::to_string(topology->epoch()) +
                   " cannot be used: " + view.error());
    return;
  }
  const ClusterView* before = context_.view.get();
  if (before != nullptr && topology->epoch() == before->epoch() + 1) {
    if (topology->body().previous_digest() != before->digest()) {
      return fork("epoch " + std::to_string(topology->epoch()) +
                  " follows another topology than ours");
    }
    // The record is authoritative; a claim policy that disagrees with itself must not go unseen.
    const auto ring = claim(&before->ring(), topology->body());
    if (!ring || ring->placement_digest() != (*view)->ring().placement_digest()) {
      context_.alarm("the ring of epoch " + std::to_string(topology->epoch()) +
                     " is not the one its policy gives here");
    }
  }
  storing_ = *std::move(view);
  store();
}

void TopologyKeeper::store() {
  storage::WriteMeta write{
      {{std::string(Identity::kTopologyName), storing_->topology().record().SerializeAsString()}}};
  if (context_.view == nullptr) {
    write.values.emplace_back(
        Identity::kName,
        Identity::encode(context_.self, storing_->topology().cluster_id(), context_.config.name));
  }
  context_.submit(Part::kTopology, 0, std::move(write));
}

bool TopologyKeeper::on_storage_done(const storage::StorageResult& result) {
  if (!result.status.ok()) {
    context_.env.log(LogLevel::kError, "epoch " + std::to_string(storing_->epoch()) +
                                           " cannot be stored: " + result.status.message());
    context_.deadlines.set(context_.now.at + kStoreRetry, Part::kTopology, kStoreTimer);
    return false;
  }
  context_.view = std::exchange(storing_, nullptr);
  if (!names_self(context_.view->topology())) {
    context_.env.stop(ExitCode::kRefused, "this daemon is no longer a member of its cluster");
    return false;
  }
  store_next();
  return true;
}

void TopologyKeeper::on_pull(const pb::Envelope& message) {
  if (message.topology_pull().known_epoch() >= context_.view->epoch()) return;
  pb::Envelope answer;
  *answer.mutable_topology() = context_.view->topology().record();
  context_.send(Address::from_bytes(message.sender()), Channel::kStream, answer);
}

void TopologyKeeper::confirm(const Address& to) {
  pb::Envelope message;
  message.mutable_topology_pull()->set_known_epoch(context_.view->epoch());
  context_.send(to, Channel::kStream, message);
}

void TopologyKeeper::on_word(const Address& sender, uint64_t epoch, uint64_t digest) {
  if (forked_ || epoch == 0) return;
  if (epoch == context_.view->epoch() && digest != context_.view->digest()) {
    return fork("two topologies of epoch " + std::to_string(epoch) + ", the other one at " +
                sender.to_string());
  }
  behind(sender, epoch);
}

void TopologyKeeper::behind(const Address& who_is_ahead, uint64_t epoch) {
  if (forked_ || epoch <= newest_epoch()) return;
  if (pull_timer_ != 0) {
    next_teller_ = who_is_ahead;
    next_epoch_ = epoch;
    return;
  }
  pull(who_is_ahead);
}

void TopologyKeeper::pull(const Address& from) {
  confirm(from);
  pull_timer_ = context_.deadlines.set(context_.now.at + kPullTimeout, Part::kTopology, kPullTimer);
  next_epoch_ = 0;
}

void TopologyKeeper::on_deadline(uint64_t cookie) {
  if (cookie == kStoreTimer) return store();
  pull_timer_ = 0;
  if (!forked_ && next_epoch_ > newest_epoch()) pull(next_teller_);
}

uint64_t TopologyKeeper::newest_epoch() const {
  if (waiting_ != nullptr) return waiting_->epoch();
  if (storing_ != nullptr) return storing_->epoch();
  return context_.view != nullptr ? context_.view->epoch() : 0;
}

bool TopologyKeeper::names_self(const Topology& topology) const {
  const pb::TopologyMember* member = topology.find(context_.self);
  return member != nullptr && member->role() != pb::REMOVED;
}

void TopologyKeeper::fork(const std::string& words) {
  forked_ = true;
  waiting_ = nullptr;
  context_.alarm(words + ": no topology is taken or decided here until people look at it");
}

}  // namespace torc::node
