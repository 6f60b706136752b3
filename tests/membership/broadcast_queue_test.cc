#include "membership/broadcast_queue.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace torc::membership {
namespace {

constexpr size_t kPacketBytesMax = 1300;

Rumor rumor(uint64_t id, uint64_t incarnation = 1, const std::string& name = "n") {
  Rumor rumor;
  rumor.member.id = NodeId{id};
  rumor.member.name = name;
  rumor.member.peer = Address::parse("127.0.0.1:7101").value();
  rumor.member.incarnation = incarnation;
  rumor.member.liveness = Liveness::kAlive;
  return rumor;
}

std::vector<uint64_t> fill(BroadcastQueue& queue, uint32_t transmits, size_t bytes_max) {
  pb::GossipPacket packet;
  queue.fill(packet, bytes_max, transmits);
  CHECK(packet.ByteSizeLong() <= bytes_max);
  std::vector<uint64_t> ids;
  for (const auto& state : packet.rumors()) ids.push_back(state.id());
  return ids;
}

}  // namespace

TEST_CASE("broadcast queue: a rumor is sent multiplier times the digits of the cluster's size") {
  struct Case {
    uint32_t multiplier;
    size_t members;
    uint32_t transmits;
  };
  const Case cases[] = {{4, 0, 4},  {4, 1, 4},    {4, 3, 4},    {4, 9, 4},     {4, 10, 8},
                        {4, 99, 8}, {4, 100, 12}, {4, 999, 12}, {3, 9999, 12}, {2, 10000, 10}};
  for (const Case& c : cases) {
    CAPTURE(c.members);
    CHECK(transmits_max(c.multiplier, c.members) == c.transmits);
  }
}

TEST_CASE("broadcast queue: a rumor is done with after its last transmit") {
  BroadcastQueue queue;
  CHECK(queue.empty());
  queue.push(rumor(1));
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(queue.empty());
    CHECK(fill(queue, 4, kPacketBytesMax) == std::vector<uint64_t>{1});
  }
  CHECK(queue.empty());
  CHECK(fill(queue, 4, kPacketBytesMax).empty());
}

TEST_CASE("broadcast queue: a newer rumor takes the place of the older one and starts afresh") {
  BroadcastQueue queue;
  queue.push(rumor(1, 1));
  fill(queue, 2, kPacketBytesMax);
  queue.push(rumor(1, 2));
  CHECK(queue.size() == 1);
  pb::GossipPacket packet;
  queue.fill(packet, kPacketBytesMax, 2);
  REQUIRE(packet.rumors_size() == 1);
  CHECK(packet.rumors(0).incarnation() == 2);
  CHECK_FALSE(queue.empty());
}

TEST_CASE("broadcast queue: the least sent go first, the newest among equals") {
  BroadcastQueue queue;
  queue.push(rumor(1));
  fill(queue, 9, kPacketBytesMax);
  queue.push(rumor(2));
  queue.push(rumor(3));
  CHECK(fill(queue, 9, kPacketBytesMax) == std::vector<uint64_t>{3, 2, 1});
  queue.push(rumor(4));
  CHECK(fill(queue, 9, kPacketBytesMax) == std::vector<uint64_t>{4, 3, 2, 1});
}

TEST_CASE("broadcast queue: a packet is filled up to its limit and not a byte beyond") {
  pb::GossipPacket two;
  BroadcastQueue measure;
  measure.push(rumor(1, 1, std::string(200, 'x')));
  measure.push(rumor(2, 1, std::string(200, 'x')));
  measure.fill(two, kPacketBytesMax, 1);
  const size_t bytes = two.ByteSizeLong();

  for (const auto& [limit, fits] : {std::pair{bytes, 2}, std::pair{bytes - 1, 1}}) {
    BroadcastQueue queue;
    queue.push(rumor(1, 1, std::string(200, 'x')));
    queue.push(rumor(2, 1, std::string(200, 'x')));
    CHECK(fill(queue, 1, limit).size() == static_cast<size_t>(fits));
    CHECK(queue.size() == static_cast<size_t>(2 - fits));
  }
}

TEST_CASE("broadcast queue: a smaller rumor goes where a larger one does not fit") {
  BroadcastQueue queue;
  queue.push(rumor(1, 1, "n"));
  queue.push(rumor(2, 1, std::string(250, 'x')));
  CHECK(fill(queue, 1, 100) == std::vector<uint64_t>{1});
  CHECK(fill(queue, 1, kPacketBytesMax) == std::vector<uint64_t>{2});
}

TEST_CASE("broadcast queue: what the packet says already is not said twice") {
  BroadcastQueue queue;
  queue.push(rumor(1));
  queue.push(rumor(2));
  pb::GossipPacket packet;
  encode(rumor(1), packet.add_rumors());
  queue.fill(packet, kPacketBytesMax, 4);
  REQUIRE(packet.rumors_size() == 2);
  CHECK(packet.rumors(1).id() == 2);
}

TEST_CASE("broadcast queue: of a forgotten member nothing more is told") {
  BroadcastQueue queue;
  queue.push(rumor(1));
  queue.push(rumor(2));
  queue.remove(NodeId{2});
  CHECK(fill(queue, 4, kPacketBytesMax) == std::vector<uint64_t>{1});
}

}  // namespace torc::membership
