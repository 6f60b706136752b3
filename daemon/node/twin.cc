#include "daemon/node/twin.h"

#include <string>

namespace torc::node {

void Twin::start() {
  since_ = context_.now.at;
  const pb::TopologyMember* self = context_.named_in_topology(context_.self);
  const Address recorded = self != nullptr ? Address::from_bytes(self->peer()) : Address{};
  if (!recorded || recorded == context_.config.peer) return;
  pb::Envelope call;
  call.mutable_topology_pull()->set_known_epoch(context_.view->epoch());
  context_.send(recorded, Channel::kStream, call);
}

void Twin::heard_at(const Address& address) {
  if (is_young()) return stop(address);
  refuse(address);
}

void Twin::on_message(const pb::Envelope& message) {
  const Address sender = Address::from_bytes(message.sender());
  if (!sender || sender == context_.config.peer) return;
  if (!message.has_join_refused()) return refuse(sender);
  // No message ends a daemon that has long been serving.
  if (is_young()) return stop(sender);
  context_.alarm("another process with this daemon's identity runs at " + sender.to_string());
}

void Twin::refuse(const Address& address) {
  context_.env.log(LogLevel::kWarning, "another process with this daemon's identity runs at " +
                                           address.to_string() + " and is told to stop");
  pb::Envelope message;
  message.mutable_join_refused()->set_reason("this identity is already running");
  context_.send(address, Channel::kStream, message);
}

void Twin::stop(const Address& address) {
  context_.env.stop(ExitCode::kRefused, "another process with this daemon's identity runs at " +
                                            address.to_string() +
                                            "; is this data directory a copy?");
}

}  // namespace torc::node
