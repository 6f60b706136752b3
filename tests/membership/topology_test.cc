#include "membership/topology.h"

#include <doctest/doctest.h>
#include <xxhash.h>

#include <functional>
#include <string>

namespace torc::membership {
namespace {

pb::TopologyMember* add_member(pb::TopologyBody& body, uint64_t id, const std::string& name) {
  pb::TopologyMember* member = body.add_members();
  member->set_id(id);
  member->set_name(name);
  member->set_weight(1);
  member->set_role(pb::ACTIVE);
  return member;
}

pb::TopologyBody valid_body() {
  pb::TopologyBody body;
  body.set_cluster_id(0xc1);
  body.set_epoch(1);
  body.mutable_parameters()->set_replication(3);
  body.mutable_parameters()->set_partitions(4096);
  add_member(body, 5, "n5");
  add_member(body, 7, "n7");
  add_member(body, 9, "n9");
  body.set_founder(7);
  body.set_ring("opaque");
  return body;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("topology: a sealed body is decoded to the same record on every daemon") {
  const auto sealed = Topology::seal(valid_body());
  REQUIRE(sealed.has_value());
  CHECK((*sealed)->digest() ==
        XXH3_64bits((*sealed)->record().body().data(), (*sealed)->record().body().size()));

  const auto decoded = Topology::decode((*sealed)->record());
  REQUIRE(decoded.has_value());
  CHECK((*decoded)->cluster_id() == 0xc1);
  CHECK((*decoded)->epoch() == 1);
  CHECK((*decoded)->digest() == (*sealed)->digest());
  CHECK((*decoded)->body().ring() == "opaque");
  CHECK((*decoded)->record().body() == (*sealed)->record().body());
}

TEST_CASE("topology: members are found by id and by name") {
  const auto topology = Topology::seal(valid_body()).value();
  REQUIRE(topology->find(NodeId{9}) != nullptr);
  CHECK(topology->find(NodeId{9})->name() == "n9");
  CHECK(topology->find(NodeId{8}) == nullptr);
  CHECK(topology->find(NodeId{10}) == nullptr);
  CHECK(topology->find(NodeId{}) == nullptr);
  REQUIRE(topology->find("n5") != nullptr);
  CHECK(topology->find("n5")->id() == 5);
  CHECK(topology->find("n") == nullptr);
}

TEST_CASE("topology: each epoch names the digest of the one before") {
  const auto first = Topology::seal(valid_body()).value();
  pb::TopologyBody next = first->next_body();
  CHECK(next.epoch() == 2);
  CHECK(next.previous_digest() == first->digest());
  CHECK(next.members_size() == 3);
  next.set_writes_open(true);
  const auto second = Topology::seal(next).value();
  CHECK(second->digest() != first->digest());
  CHECK(second->next_body().previous_digest() == second->digest());
}

TEST_CASE("topology: fields of a newer program survive, so that its digest stays true") {
  pb::TopologyRecord record = Topology::seal(valid_body()).value()->record();
  // Field 1000, varint 1.
  record.mutable_body()->append("\xc0\x3e\x01", 3);
  record.set_digest(XXH3_64bits(record.body().data(), record.body().size()));
  const auto topology = Topology::decode(record);
  REQUIRE(topology.has_value());
  CHECK((*topology)->record().body() == record.body());
  const std::string next = (*topology)->next_body().SerializeAsString();
  CHECK(contains(next, std::string("\xc0\x3e\x01", 3)));
}

TEST_CASE("topology: a body that is not what its digest says is refused") {
  pb::TopologyRecord record = Topology::seal(valid_body()).value()->record();
  for (size_t i = 0; i < record.body().size(); ++i) {
    pb::TopologyRecord damaged = record;
    (*damaged.mutable_body())[i] ^= 1;
    const auto topology = Topology::decode(damaged);
    REQUIRE_FALSE(topology.has_value());
    CHECK(contains(topology.error(), "does not match its body"));
  }
  CHECK_FALSE(Topology::decode({}).has_value());
}

TEST_CASE("topology: bytes that are no encoded body are refused, whatever their digest") {
  pb::TopologyRecord record;
  record.set_body("\xff\xff\xff\xff garbage");
  record.set_digest(XXH3_64bits(record.body().data(), record.body().size()));
  const auto topology = Topology::decode(record);
  REQUIRE_FALSE(topology.has_value());
  CHECK(contains(topology.error(), "not an encoded TopologyBody"));
}

TEST_CASE("topology: a broken rule is refused with the name of the culprit") {
  struct Case {
    const char* rule;
    std::function<void(pb::TopologyBody&)> breaks;
    const char* error;
  };
  const Case cases[] = {
      {"cluster id", [](auto& body) { body.set_cluster_id(0); }, "no cluster id"},
      {"epoch", [](auto& body) { body.set_epoch(0); }, "epoch 0"},
      {"partitions 0", [](auto& body) { body.mutable_parameters()->set_partitions(0); },
       "partitions 0 "},
      {"partitions 12", [](auto& body) { body.mutable_parameters()->set_partitions(12); },
       "partitions 12 "},
      {"too many partitions", [](auto& body) { body.mutable_parameters()->set_partitions(131072); },
       "partitions 131072 "},
      {"replication 0", [](auto& body) { body.mutable_parameters()->set_replication(0); },
       "replication 0 "},
      {"replication 17", [](auto& body) { body.mutable_parameters()->set_replication(17); },
       "replication 17 "},
      {"order", [](auto& body) { body.mutable_members()->SwapElements(0, 2); },
       "member 0000000000000007 ('n7') is out of order"},
      {"unique ids", [](auto& body) { body.mutable_members(1)->set_id(5); },
       "member 0000000000000005 ('n7') is named twice"},
      {"unique names", [](auto& body) { body.mutable_members(2)->set_name("n5"); },
       "member 0000000000000009 ('n5') has the name of member 0000000000000005"},
      {"ids", [](auto& body) { body.mutable_members(0)->set_id(0); }, "('n5') has no id"},
      {"names", [](auto& body) { body.mutable_members(1)->clear_name(); },
       "member 0000000000000007 ('') has no name"},
      {"short names", [](auto& body) { body.mutable_members(1)->set_name(std::string(256, 'x')); },
       "more than 255 bytes"},
      {"founder", [](auto& body) { body.set_founder(6); },
       "founder 0000000000000006 is not among the members"},
      {"members", [](auto& body) { body.clear_members(); },
       "founder 0000000000000007 is not among the members"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.rule);
    pb::TopologyBody body = valid_body();
    c.breaks(body);
    const auto topology = Topology::seal(body);
    REQUIRE_FALSE(topology.has_value());
    CHECK_MESSAGE(contains(topology.error(), c.error), topology.error());
  }
}

TEST_CASE("topology: the limits themselves are allowed") {
  pb::TopologyBody body = valid_body();
  body.mutable_parameters()->set_partitions(65536);
  body.mutable_parameters()->set_replication(16);
  CHECK(Topology::seal(body).has_value());
  body.mutable_parameters()->set_partitions(1);
  body.mutable_parameters()->set_replication(1);
  CHECK(Topology::seal(body).has_value());
}

}  // namespace torc::membership
