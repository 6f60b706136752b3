#include <doctest/doctest.h>

#include <cstring>

#include "placement/policy.h"
#include "tests/placement/golden_tables.h"

namespace torc::placement {
namespace {

TEST_CASE("golden digests: tables of every policy are fixed for ever") {
  size_t compared = 0;
  for (const GoldenStory& story : golden_stories()) {
    for (const GoldenTable& golden : kGoldenTables) {
      if (std::strcmp(golden.story, story.name) != 0) continue;
      CHECK_MESSAGE(golden_digest(golden.policy, story) == golden.digest, golden.policy, ", ",
                    golden.story);
      ++compared;
    }
  }
  CHECK(compared == policy_names().size() * golden_stories().size());
}

}  // namespace
}  // namespace torc::placement
