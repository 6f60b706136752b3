#include "daemon/shell/peer_transport.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "daemon/shell/socket_address.h"

namespace torc::shell {
namespace {

constexpr uint64_t kSweepMs = 1000;
constexpr int kBacklog = 512;
constexpr uint64_t kWarningEveryMs = 1000;

}  // namespace

PeerTransport::PeerTransport(uv_loop_t* loop, ReadBuffer& buffer, const PeerLimits& limits,
                             PeerEvents& events)
    : loop_(loop),
      buffer_(buffer),
      limits_(limits),
      events_(events),
      sink_([this](pb::Envelope& message) {
        ++stats_.messages_received;
        events_.on_message(message);
      }),
      sweeper_(make_handle(uv_timer_init, loop, this)) {
  uv_timer_start(
      sweeper_.get(), [](uv_timer_t* timer) { static_cast<PeerTransport*>(timer->data)->sweep(); },
      kSweepMs, kSweepMs);
}

PeerTransport::~PeerTransport() = default;

std::expected<Address, std::string> PeerTransport::listen(const Address& address) {
  listener_ = make_handle(uv_tcp_init, loop_, this);
  const sockaddr_storage storage = to_sockaddr(address);
  int error = uv_tcp_bind(listener_.get(), reinterpret_cast<const sockaddr*>(&storage), 0);
  if (error == 0) {
    error = uv_listen(as_stream(listener_.get()), kBacklog, [](uv_stream_t* listener, int status) {
      if (status == 0) static_cast<PeerTransport*>(listener->data)->accept();
    });
  }
  if (error != 0) {
    listener_.reset();
    return std::unexpected(socket_error("cannot listen for peers on", address, error));
  }
  return local_address(listener_.get());
}

void PeerTransport::send(const Address& to, const pb::Envelope& message) {
  auto at = outgoing_.find(to);
  if (at == outgoing_.end()) {
    if (!to || (outgoing_.size() >= limits_.links_out_max && !drop_idlest_link())) {
      ++stats_.messages_dropped;
      return;
    }
    at = outgoing_
             .emplace(to, std::make_unique<OutgoingLink>(loop_, to, limits_.outgoing,
                                                         static_cast<OutgoingLink::Owner&>(*this)))
             .first;
  }
  if (at->second->send(message, cluster_id_)) {
    ++stats_.messages_sent;
  } else {
    ++stats_.messages_dropped;
  }
}

// Makes room for one more, so that whoever sends from ever new addresses does not keep others from
// being answered. Those go first where nobody ever was; among equals the one unused longest.
bool PeerTransport::drop_idlest_link() {
  const auto rank = [](const OutgoingLink& link) {
    return std::pair(link.is_connected(), link.last_used_ms());
  };
  auto idlest = outgoing_.end();
  for (auto at = outgoing_.begin(); at != outgoing_.end(); ++at) {
    const OutgoingLink& link = *at->second;
    if (link.is_dirty() || (link.is_connected() && link.queued_bytes() > 0)) continue;
    if (idlest == outgoing_.end() || rank(link) < rank(*idlest->second)) idlest = at;
  }
  if (idlest == outgoing_.end()) return false;
  if (idlest->second->queued_bytes() > 0) events_.on_lost(idlest->first);
  outgoing_.erase(idlest);
  return true;
}

void PeerTransport::set_cluster(uint64_t cluster_id) {
  cluster_id_ = cluster_id;
  for (const auto& [to, link] : outgoing_) link->finish_frame();
}

void PeerTransport::flush() {
  flushing_.swap(dirty_);
  for (OutgoingLink* link : flushing_) link->flush();
  flushing_.clear();
}

bool PeerTransport::is_drained() const {
  for (const auto& [to, link] : outgoing_) {
    if (link->is_connected() && link->queued_bytes() > 0) return false;
  }
  return true;
}

void PeerTransport::on_link_lost(OutgoingLink& link, const char* reason) {
  ++stats_.links_lost;
  spdlog::debug("stream to {} lost: {}", link.to().to_string(), reason);
  events_.on_lost(link.to());
}

void PeerTransport::accept() {
  const uint64_t id = next_incoming_++;
  auto link = std::make_unique<IncomingLink>(id, as_stream(listener_.get()), buffer_,
                                             static_cast<IncomingLink::Owner&>(*this));
  if (!link->is_open()) return;
  if (incoming_.size() >= limits_.links_in_max) {
    ++stats_.links_refused;
    return;
  }
  incoming_.emplace(id, std::move(link));
}

void PeerTransport::on_link_end(uint64_t id, node::FrameError error) {
  const auto at = incoming_.find(id);
  if (error != node::FrameError::kNone) {
    ++stats_.frame_errors[static_cast<size_t>(error)];
    const uint64_t now_ms = uv_now(loop_);
    if (warned_at_ms_ == 0 || now_ms - warned_at_ms_ >= kWarningEveryMs) {
      warned_at_ms_ = now_ms;
      spdlog::warn("closed a peer stream from {}: {}",
                   remote_address(at->second->socket()).to_string(), node::to_string(error));
    }
  }
  incoming_.erase(at);
}

void PeerTransport::sweep() {
  const uint64_t now_ms = uv_now(loop_);
  std::erase_if(outgoing_, [&](const auto& entry) {
    const OutgoingLink& link = *entry.second;
    return !link.is_dirty() && link.queued_bytes() == 0 &&
           now_ms - link.last_used_ms() > limits_.idle_ms_max;
  });
  stats_.links_refused += std::erase_if(incoming_, [&](const auto& entry) {
    const IncomingLink& link = *entry.second;
    return !link.has_spoken() && now_ms - link.accepted_at_ms() > limits_.first_message_ms_max;
  });
}

PeerStats PeerTransport::stats() const {
  PeerStats stats = stats_;
  stats.links_out = outgoing_.size();
  stats.links_in = incoming_.size();
  for (const auto& [to, link] : outgoing_) stats.queued_bytes += link->queued_bytes();
  return stats;
}

}  // namespace torc::shell
