#include "daemon/node/cluster_view.h"

#include <doctest/doctest.h>

#include "placement/hash.h"
#include "tests/daemon/fake_env.h"

namespace torc::node {
namespace {

SealedTopology with_ring(const ClusterView& view, const std::string& ring) {
  pb::TopologyBody body = view.topology().next_body();
  body.set_ring(ring);
  return membership::Topology::seal(body);
}

TEST_CASE("cluster view: every partition has its owners by node id, in the ring's order") {
  const auto view = joined(*joined(*founded(), {2, 3}), {4});
  for (uint32_t partition = 0; partition < 64; ++partition) {
    const auto owners = view->owners(partition);
    const auto indexes = view->ring().owners(partition);
    REQUIRE(owners.size() == 3);
    for (size_t i = 0; i < owners.size(); ++i) {
      CHECK(view->topology().find(owners[i])->name() == view->ring().members()[indexes[i]]);
    }
  }
}

TEST_CASE("cluster view: with fewer members than the replication the lists are short") {
  const auto view = joined(*founded(), {2});
  CHECK(view->owners(0).size() == 2);
  CHECK(view->ring().shortfall() == 64);
}

TEST_CASE("cluster view: a key's partition comes from the cluster's hash seed") {
  const auto view = founded();
  CHECK(view->partition_of("k") == placement::partition_of("k", 64, 5));
}

TEST_CASE("cluster view: a ring that does not belong to its topology is refused in words") {
  const auto three = joined(*founded(), {2, 3});
  SUBCASE("bytes that are no ring") {
    const auto view = ClusterView::build(*with_ring(*three, "\xff\xff"));
    REQUIRE(!view);
    CHECK(view.error().find("decode") != std::string::npos);
  }
  SUBCASE("a ring that names a stranger") {
    const auto four = joined(*three, {4});
    const auto view = ClusterView::build(*with_ring(*three, four->topology().body().ring()));
    REQUIRE(!view);
    CHECK(view.error().find("'n4'") != std::string::npos);
  }
  SUBCASE("a ring of another size") {
    pb::TopologyBody body = three->topology().next_body();
    body.mutable_parameters()->set_partitions(128);
    const auto view = ClusterView::build(*membership::Topology::seal(body));
    REQUIRE(!view);
    CHECK(view.error().find("size") != std::string::npos);
  }
  SUBCASE("a ring that changed in an epoch to come") {
    const auto later = joined(*joined(*three, {}), {4});  // its ring changed in epoch 4
    pb::TopologyBody body = three->topology().next_body();
    *body.add_members() = member(4);
    body.mutable_members()->rbegin()->set_role(pb::ACTIVE);
    body.set_ring(later->topology().body().ring());
    const auto view = ClusterView::build(*membership::Topology::seal(body));
    REQUIRE(!view);
    CHECK(view.error().find("later epoch") != std::string::npos);
  }
}

}  // namespace
}  // namespace torc::node
