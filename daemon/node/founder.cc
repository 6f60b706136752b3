#include "daemon/node/founder.h"

#include <algorithm>
#include <utility>

#include "daemon/node/join_check.h"
#include "daemon/node/next_epoch.h"
#include "placement/claim.h"

namespace torc::node {

pb::TopologyMember self_as_member(const NodeContext& context) {
  pb::TopologyMember member;
  member.set_id(context.self.value);
  member.set_name(context.config.name);
  member.set_peer(context.config.peer.to_bytes());
  member.set_client(context.config.client.to_bytes());
  member.set_weight(context.config.weight);
  member.set_rack(context.config.rack);
  return member;
}

void Founder::found() {
  Founding founding;
  while (founding.cluster_id == 0) founding.cluster_id = context_.env.random();
  founding.hash_seed = context_.env.random();
  founding.founder = self_as_member(context_);
  founding.replication = context_.config.replication;
  founding.partitions = context_.config.partitions;
  founding.policy = context_.config.policy;

  std::string wrong = check_newcomer(founding.founder);
  if (wrong.empty()) {
    auto topology = found_cluster(founding);
    if (topology) return keeper_.offer(*std::move(topology));
    wrong = topology.error();
  }
  context_.env.stop(ExitCode::kRefused, "cannot found a cluster: " + wrong);
}

void Founder::on_join(const pb::Envelope& message) {
  const pb::TopologyMember& newcomer = message.join().member();
  if (const std::string wrong = check_newcomer(newcomer); !wrong.empty()) {
    return refuse(Address::from_bytes(message.sender()), wrong);
  }
  const Address to = Address::from_bytes(newcomer.peer());
  const pb::TopologyMember* known = context_.view->topology().find(NodeId{newcomer.id()});
  if (known != nullptr) {
    if (known->role() != pb::REMOVED) return send_view(to);
    return refuse(to, "this daemon was removed from the cluster; start it with an empty directory");
  }
  if (!is_founder()) {
    if (message.join().forwarded()) return;
    pb::Envelope forward;
    *forward.mutable_join() = message.join();
    forward.mutable_join()->set_forwarded(true);
    return context_.send(context_.address_of(founder()), Channel::kStream, forward);
  }

  if (const std::string reason = objection(newcomer); !reason.empty()) return refuse(to, reason);
  const bool waits = std::any_of(joins_.begin(), joins_.end(),
                                 [&](const auto& join) { return join.id() == newcomer.id(); });
  if (waits || joins_.size() == kJoinsMax) return;
  EpochChange trial{.joins = joins_};
  trial.joins.push_back(newcomer);
  // Whoever no ring can be made with must not keep out those who share its epoch.
  if (const auto topology = next_epoch(*context_.view, trial); !topology) {
    return refuse(to, topology.error());
  }
  joins_ = std::move(trial.joins);
  if (window_timer_ == 0) {
    window_timer_ =
        context_.deadlines.set(context_.now.at + kJoinWindow, Part::kFounder, kWindowTimer);
  }
}

std::string Founder::objection(const pb::TopologyMember& newcomer) const {
  if (keeper_.forked()) {
    return "two topologies of one epoch exist; joins wait until that is resolved";
  }
  if (context_.view->writes_open() || open_wanted_) {
    return "this cluster has accepted writes, and data cannot be moved to a new member yet; all "
           "members must join before the first write";
  }
  const auto same_name = [&](const auto& member) { return member.name() == newcomer.name(); };
  const auto& members = context_.view->topology().body().members();
  const auto namesake = std::find_if(members.begin(), members.end(), same_name);
  if (namesake == members.end()) {
    const auto waiting = std::find_if(joins_.begin(), joins_.end(), same_name);
    if (waiting == joins_.end() || waiting->id() == newcomer.id()) {
      return members.size() + static_cast<int>(joins_.size()) <
                     static_cast<int>(placement::kMembersMax)
                 ? ""
                 : "the cluster has as many members as it can";
    }
  }
  return "another member is already called '" + newcomer.name() + "'; choose another --name";
}

void Founder::on_open_writes(const pb::Envelope& message) {
  if (context_.view->writes_open()) return send_view(Address::from_bytes(message.sender()));
  if (is_founder() && context_.named_in_topology({message.from()}) != nullptr) open_writes();
}

void Founder::open_writes() {
  if (context_.view->writes_open()) return;
  const auto& parameters = context_.view->topology().body().parameters();
  open_wanted_ = true;
  open_wanted_until_ =
      context_.now.at + std::chrono::milliseconds(parameters.request_timeout_ms_max());
  if (is_founder()) decide();
  if (open_timer_ == 0 && !deciding_) seek_opening();
}

// Asks whoever stands in the way; again and again, since any message may be lost.
void Founder::seek_opening() {
  if (is_founder()) {
    for (const pb::TopologyMember& member : context_.view->topology().body().members()) {
      if (!has_confirmed({member.id()})) send_view(context_.address_of({member.id()}));
    }
  } else {
    pb::Envelope question;
    question.mutable_open_writes();
    context_.send(context_.address_of(founder()), Channel::kStream, question);
  }
  arm_open_timer();
}

void Founder::arm_open_timer() {
  open_timer_ = context_.deadlines.set(context_.now.at + kOpenRetry, Part::kFounder, kOpenTimer);
}

void Founder::on_word(NodeId from, uint64_t epoch) {
  if (context_.view->writes_open() || !is_founder()) return;
  if (context_.named_in_topology(from) == nullptr) return;
  uint64_t& known = confirmed_[from];
  known = std::max(known, epoch);
  decide();
}

bool Founder::has_confirmed(NodeId member) const {
  if (member == context_.self) return true;
  const auto word = confirmed_.find(member);
  return word != confirmed_.end() && word->second >= context_.view->epoch();
}

bool Founder::may_open() const {
  const pb::TopologyBody& body = context_.view->topology().body();
  const auto missing = std::count_if(
      body.members().begin(), body.members().end(), [this](const pb::TopologyMember& member) {
        return member.role() != pb::REMOVED && !has_confirmed({member.id()});
      });
  return missing <= (body.parameters().replication() > 1 ? 1 : 0);
}

void Founder::on_deadline(uint64_t cookie) {
  if (cookie == kWindowTimer) {
    window_timer_ = 0;
    return decide();
  }
  open_timer_ = 0;
  if (context_.now.at >= open_wanted_until_) open_wanted_ = false;
  if (open_wanted_) seek_opening();
}

void Founder::decide() {
  if (deciding_ || keeper_.forked() || context_.view->writes_open()) return;
  EpochChange change;
  // Joins first: the epoch that opens the cluster moves nothing.
  const bool window_is_over = window_timer_ == 0 || open_wanted_;
  if (!joins_.empty() && window_is_over) {
    change.joins = joins_;  // they wait on until the view names them
  } else if (joins_.empty() && open_wanted_ && may_open()) {
    change.open_writes = true;
  } else {
    return;
  }
  context_.deadlines.cancel(std::exchange(window_timer_, 0));
  auto topology = next_epoch(*context_.view, change);
  if (!topology) {
    context_.env.log(LogLevel::kError, "no next epoch: " + topology.error());
    for (const auto& join : std::exchange(joins_, {})) {
      refuse(Address::from_bytes(join.peer()), topology.error());
    }
    return;
  }
  deciding_ = true;
  keeper_.offer(*std::move(topology));
}

// Whoever the new view names is let in. If it opened the cluster, whoever came meanwhile is late.
void Founder::drop_settled_joins() {
  const ClusterView& view = *context_.view;
  std::erase_if(joins_, [&](const pb::TopologyMember& join) {
    if (view.topology().find(NodeId{join.id()}) != nullptr) return true;
    if (!view.writes_open()) return false;
    refuse(Address::from_bytes(join.peer()), objection(join));
    return true;
  });
}

void Founder::on_view_changed() {
  if (context_.view->writes_open()) {
    open_wanted_ = false;
    context_.deadlines.cancel(std::exchange(open_timer_, 0));
    confirmed_.clear();
  }
  if (!is_founder()) return keeper_.confirm(context_.address_of(founder()));
  if (std::exchange(deciding_, false)) {
    for (const pb::TopologyMember& member : context_.view->topology().body().members()) {
      if (member.id() != context_.self.value) send_view(context_.address_of({member.id()}));
    }
  }
  drop_settled_joins();
  if (open_wanted_ && open_timer_ == 0) arm_open_timer();
  decide();
}

bool Founder::is_founder() const {
  return founder() == context_.self;
}

void Founder::send_view(const Address& to) {
  pb::Envelope message;
  *message.mutable_topology() = context_.view->topology().record();
  context_.send(to, Channel::kStream, message);
}

void Founder::refuse(const Address& newcomer, const std::string& reason) {
  pb::Envelope message;
  message.mutable_join_refused()->set_reason(reason);
  context_.send(newcomer, Channel::kStream, message);
}

}  // namespace torc::node
