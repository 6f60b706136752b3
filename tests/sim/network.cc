#include "tests/sim/network.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace torc::sim {

using std::chrono::milliseconds;

size_t Network::attach(const Address& address, NetworkEndpoint& endpoint) {
  assert(!by_address_.contains(address) && links_.empty() == endpoints_.empty());
  by_address_[address] = endpoints_.size();
  endpoints_.push_back({address, &endpoint});
  links_.assign(endpoints_.size() * endpoints_.size(), Link{});
  return endpoints_.size() - 1;
}

void Network::set_up(size_t endpoint) {
  endpoints_[endpoint].up = true;
}

void Network::set_down(size_t endpoint) {
  Endpoint& dead = endpoints_[endpoint];
  dead.up = false;
  ++dead.life;
  for (size_t other = 0; other < endpoints_.size(); ++other) {
    if (other == endpoint) continue;
    // The peer's kernel hears of it at once, unless the way back is cut: then the stream stalls.
    Link& to_dead = link(other, endpoint);
    if (to_dead.stream && link(endpoint, other).cuts == 0) {
      break_stream(other, endpoint, to_dead.stream, latency(to_dead));
    }
    // What the dead one had sent may still arrive, even after the first words of its next life, or
    // not.
    Link& from_dead = link(endpoint, other);
    if (from_dead.stream && random_.coin()) drop(*from_dead.stream);
    from_dead.stream = nullptr;
  }
}

void Network::drop(Stream& stream) {
  stream.broken = true;
  figures_.lost += stream.held.size();
  stream.held.clear();
}

void Network::send(size_t from, const Address& to, node::Channel channel, std::string bytes) {
  ++figures_.sent;
  const auto found = by_address_.find(to);
  if (found == by_address_.end()) {
    ++figures_.lost;
    if (channel == node::Channel::kStream) refuse_stream(from, to);
  } else if (channel == node::Channel::kDatagram) {
    send_datagram(from, found->second, std::move(bytes));
  } else {
    send_stream(from, found->second, std::move(bytes));
  }
}

// Mostly near the minimum, with a tail.
Duration Network::latency(const Link& link) {
  Duration result = random_.between(config_.latency_min, config_.latency_max);
  if (random_.chance(20'000)) result *= 8;
  return result + link.clog;
}

void Network::send_datagram(size_t from, size_t to, std::string bytes) {
  Link& way = link(from, to);
  if (random_.chance(config_.datagram_loss)) {
    ++figures_.lost;
    return;
  }
  Duration delay = latency(way);
  if (random_.chance(config_.datagram_reorder)) {
    ++figures_.reordered;
    delay += random_.between(milliseconds(1), milliseconds(800));
  }
  if (random_.chance(config_.datagram_duplicate)) {
    ++figures_.duplicated;
    queue_.after(delay + random_.between(Duration(0), milliseconds(500)),
                 [this, from, to, copy = bytes] { arrive_datagram(from, to, copy); });
  }
  queue_.after(delay,
               [this, from, to, sent = std::move(bytes)] { arrive_datagram(from, to, sent); });
}

void Network::arrive_datagram(size_t from, size_t to, std::string_view bytes) {
  if (link(from, to).cuts > 0 || !endpoints_[to].up) {
    ++figures_.lost;
    return;
  }
  ++figures_.delivered;
  // A datagram that is refused is dropped; nobody is told.
  (void)endpoints_[to].sink->on_bytes(node::Channel::kDatagram, bytes);
}

void Network::send_stream(size_t from, size_t to, std::string bytes) {
  Link& way = link(from, to);
  if (way.stream && random_.chance(config_.stream_break)) {
    break_stream(from, to, way.stream, latency(way));
  }
  if (!way.stream) {
    way.stream = std::make_shared<Stream>();
    way.stream->receiver_life = endpoints_[to].life;
    way.stream->last_arrival =
        queue_.now() + latency(way) + latency(link(to, from));  // the handshake
  }
  Stream& stream = *way.stream;
  if (random_.chance(config_.stream_loss)) {
    ++figures_.lost;
    return;
  }
  if (random_.chance(config_.stream_duplicate)) {
    ++figures_.duplicated;
    schedule_stream(from, to, way.stream,
                    stream.last_arrival + random_.between(Duration(0), milliseconds(3000)), bytes);
  }
  Instant at = std::max(queue_.now() + latency(way), stream.last_arrival);
  if (random_.chance(config_.stream_reorder)) {
    ++figures_.reordered;
    at += random_.between(milliseconds(1), milliseconds(2000));
  } else {
    stream.last_arrival = at;
  }
  schedule_stream(from, to, way.stream, at, std::move(bytes));
}

void Network::schedule_stream(size_t from, size_t to, StreamPtr stream, Instant at,
                              std::string bytes) {
  queue_.at(at, [this, from, to, stream = std::move(stream), sent = std::move(bytes)]() mutable {
    arrive_stream(from, to, stream, std::move(sent));
  });
}

void Network::arrive_stream(size_t from, size_t to, const StreamPtr& stream, std::string bytes) {
  const Link& way = link(from, to);
  if (stream->broken) {
    ++figures_.lost;
  } else if (way.cuts == 0 && stream->held.empty()) {
    deliver_stream(from, to, stream, bytes);
  } else if (stream != way.stream) {
    // Its sender is dead and sends nothing twice.
    ++figures_.lost;
    drop(*stream);
  } else {
    stream->held.push_back(std::move(bytes));
    if (stream->held.size() > 1) return;
    queue_.after(random_.between(config_.stall_min, config_.stall_max), [this, from, to, stream] {
      if (!stream->held.empty()) break_stream(from, to, stream, Duration(0));
    });
  }
}

void Network::deliver_stream(size_t from, size_t to, const StreamPtr& stream,
                             std::string_view bytes) {
  const Endpoint& receiver = endpoints_[to];
  if (!receiver.up || receiver.life != stream->receiver_life) {
    ++figures_.lost;
    // Connection refused or reset, told on the way back; a cut there leaves the sender longer in
    // the dark.
    const bool silent = link(to, from).cuts > 0;
    break_stream(
        from, to, stream,
        silent ? random_.between(config_.stall_min, config_.stall_max) : latency(link(to, from)));
    return;
  }
  ++figures_.delivered;
  if (!receiver.sink->on_bytes(node::Channel::kStream, bytes)) {
    break_stream(from, to, stream, latency(link(to, from)));
  }
}

void Network::release_held(size_t from, size_t to, const StreamPtr& stream) {
  if (stream->broken || link(from, to).cuts > 0) return;
  std::deque<std::string> held = std::exchange(stream->held, {});
  for (const std::string& bytes : held) {
    if (stream->broken) {
      ++figures_.lost;
    } else {
      deliver_stream(from, to, stream, bytes);
    }
  }
}

void Network::break_stream(size_t from, size_t to, const StreamPtr& stream,
                           Duration until_noticed) {
  drop(*stream);
  Link& way = link(from, to);
  if (way.stream != stream) return;  // a dead sender's: nobody is there to be told
  ++figures_.streams_broken;
  queue_.after(until_noticed, [this, from, to, life = endpoints_[from].life] {
    if (endpoints_[from].up && endpoints_[from].life == life) {
      endpoints_[from].sink->on_stream_lost(endpoints_[to].address);
    }
  });
  way.stream = nullptr;
}

void Network::refuse_stream(size_t from, const Address& to) {
  queue_.after(milliseconds(1), [this, from, to, life = endpoints_[from].life] {
    if (endpoints_[from].up && endpoints_[from].life == life) {
      endpoints_[from].sink->on_stream_lost(to);
    }
  });
}

void Network::cut(size_t from, size_t to) {
  ++link(from, to).cuts;
}

void Network::mend(size_t from, size_t to) {
  Link& way = link(from, to);
  if (way.cuts == 0 || --way.cuts > 0) return;
  // The sender's kernel tries again some time after the way is free.
  if (!way.stream || way.stream->held.empty()) return;
  queue_.after(random_.between(Duration(0), milliseconds(900)),
               [this, from, to, stream = way.stream] { release_held(from, to, stream); });
}

void Network::clog(size_t from, size_t to, Duration delay) {
  link(from, to).clog = delay;
}

void Network::mend_all() {
  for (size_t from = 0; from < endpoints_.size(); ++from) {
    for (size_t to = 0; to < endpoints_.size(); ++to) {
      Link& way = link(from, to);
      way.clog = Duration(0);
      if (way.cuts == 0) continue;
      way.cuts = 1;
      mend(from, to);
    }
  }
}

}  // namespace torc::sim
