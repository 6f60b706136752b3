#include "daemon/shell/metrics_text.h"

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <utility>
#include <vector>

namespace torc::shell {
namespace {

class SnapshotFamilies : public prometheus::Collectable {
 public:
  explicit SnapshotFamilies(const MetricsSnapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    std::vector<prometheus::MetricFamily> families;
    const auto gauge = [&](const char* name, const char* help, uint64_t value) {
      prometheus::ClientMetric metric;
      metric.gauge.value = static_cast<double>(value);
      families.push_back({name, help, prometheus::MetricType::Gauge, {std::move(metric)}});
    };
    const auto counter = [&](const char* name, const char* help, uint64_t value) {
      prometheus::ClientMetric metric;
      metric.counter.value = static_cast<double>(value);
      families.push_back({name, help, prometheus::MetricType::Counter, {std::move(metric)}});
    };

    const node::NodeMetrics& node = snapshot_.node;
    gauge("torc_ready", "1 when this daemon is a member that can coordinate requests.", node.ready);
    gauge("torc_epoch", "Epoch of the topology this daemon acts on.", node.epoch);
    gauge("torc_members_alive", "Members that answer, as this daemon sees it.", node.members_alive);
    gauge("torc_members_suspect", "Members under suspicion.", node.members_suspect);
    gauge("torc_members_dead", "Members that do not answer.", node.members_dead);
    gauge("torc_keys", "Live keys held by this daemon, as a replica.", node.keys);
    gauge("torc_stored_bytes", "Bytes of keys and records held by this daemon.", node.bytes);
    gauge("torc_alarms", "Alarms that stand.", node.alarms);
    gauge("torc_operations_running", "Client requests being coordinated.", node.operations_running);
    counter("torc_gets_total", "Reads coordinated.", node.gets);
    counter("torc_puts_total", "Writes and deletions coordinated.", node.puts);
    counter("torc_unavailable_total", "Requests answered UNAVAILABLE.", node.unavailable);
    counter("torc_timeouts_total", "Requests answered TIMEOUT.", node.timeouts);
    counter("torc_stale_retries_total", "Writes retried above a newer version.",
            node.stale_retries);
    counter("torc_read_repairs_total", "Records written back by reads.", node.read_repairs);
    counter("torc_replica_merges_total", "Writes done as a replica.", node.replica_merges);
    counter("torc_replica_reads_total", "Reads done as a replica.", node.replica_reads);
    counter("torc_absurd_clocks_total", "Messages of peers whose clock is no clock.",
            node.absurd_clocks);
    counter("torc_replica_refusals_total", "Malformed requests of peers.", node.replica_refusals);

    const PeerStats& peers = snapshot_.peers;
    counter("torc_peer_messages_sent_total", "Messages put on peer streams.", peers.messages_sent);
    counter("torc_peer_messages_received_total", "Messages read from peer streams.",
            peers.messages_received);
    counter("torc_peer_messages_dropped_total", "Messages dropped because a queue was full.",
            peers.messages_dropped);
    counter("torc_peer_links_lost_total", "Peer streams that broke or could not be made.",
            peers.links_lost);
    counter("torc_peer_links_refused_total", "Peer streams over the limit or silent for too long.",
            peers.links_refused);
    gauge("torc_peer_links_out", "Peer streams to others.", peers.links_out);
    gauge("torc_peer_links_in", "Peer streams from others.", peers.links_in);
    gauge("torc_peer_queued_bytes", "Bytes waiting for peers.", peers.queued_bytes);
    families.push_back(frame_errors());

    const GossipStats& gossip = snapshot_.gossip;
    counter("torc_gossip_sent_total", "Datagrams sent.", gossip.sent);
    counter("torc_gossip_received_total", "Datagrams received.", gossip.received);
    counter("torc_gossip_dropped_total", "Datagrams that could not be sent.", gossip.dropped);
    counter("torc_gossip_errors_total", "Datagrams received and refused.", gossip.errors);

    const ClientStats& clients = snapshot_.clients;
    gauge("torc_clients_connected", "Client connections.", clients.connected);
    counter("torc_clients_accepted_total", "Client connections accepted.", clients.accepted);
    counter("torc_clients_refused_total", "Client connections over the limit.", clients.refused);
    counter("torc_clients_cut_off_total", "Client connections closed to save memory.",
            clients.cut_off);
    gauge("torc_client_held_bytes", "Bytes of requests and answers under way.", clients.held_bytes);
    counter("torc_client_requests_total", "Requests of clients, one per key.", clients.commands);

    const StorageQueue::Counters& storage = snapshot_.storage;
    families.push_back(by_lane("torc_storage_requests_total", "Requests the disk has done.",
                               prometheus::MetricType::Counter,
                               &StorageQueue::LaneCounters::requests));
    families.push_back(by_lane("torc_storage_batches_total", "Batches in which they were done.",
                               prometheus::MetricType::Counter,
                               &StorageQueue::LaneCounters::batches));
    families.push_back(by_lane("torc_storage_refused_total", "Requests refused by a full queue.",
                               prometheus::MetricType::Counter,
                               &StorageQueue::LaneCounters::refused));
    families.push_back(by_lane("torc_storage_queued", "Requests that wait for the disk or run.",
                               prometheus::MetricType::Gauge, &StorageQueue::LaneCounters::queued));
    counter("torc_storage_failed_syncs_total", "Syncs the disk refused.", storage.failed_syncs);
    return families;
  }

 private:
  prometheus::MetricFamily by_lane(const char* name, const char* help, prometheus::MetricType type,
                                   uint64_t StorageQueue::LaneCounters::* value) const {
    prometheus::MetricFamily family{name, help, type, {}};
    const auto add = [&](const char* lane, const StorageQueue::LaneCounters& counters) {
      prometheus::ClientMetric metric;
      metric.label = {{"lane", lane}};
      metric.counter.value = metric.gauge.value = static_cast<double>(counters.*value);
      family.metric.push_back(std::move(metric));
    };
    add("reads", snapshot_.storage.reads);
    add("writes", snapshot_.storage.writes);
    return family;
  }

  prometheus::MetricFamily frame_errors() const {
    prometheus::MetricFamily family{"torc_peer_frame_errors_total",
                                    "Peer streams closed because of what came in.",
                                    prometheus::MetricType::Counter,
                                    {}};
    for (size_t i = 1; i < kFrameErrors; ++i) {
      prometheus::ClientMetric metric;
      metric.label = {{"error", node::to_string(static_cast<node::FrameError>(i))}};
      metric.counter.value = static_cast<double>(snapshot_.peers.frame_errors[i]);
      family.metric.push_back(std::move(metric));
    }
    return family;
  }

  const MetricsSnapshot& snapshot_;
};

}  // namespace

std::string metrics_text(const MetricsSnapshot& snapshot) {
  return prometheus::TextSerializer().Serialize(SnapshotFamilies(snapshot).Collect());
}

}  // namespace torc::shell
