#include "membership/suspicion.h"

#include <doctest/doctest.h>

namespace torc::membership {

TEST_CASE("suspicion: the timeout grows with the logarithm of the cluster, from ten members on") {
  struct Case {
    uint32_t multiplier;
    size_t members;
    int64_t interval_ms;
    int64_t timeout_ms;
  };
  const Case cases[] = {
      {4, 0, 1000, 4000},     {4, 1, 1000, 4000},    {4, 3, 1000, 4000},
      {4, 10, 1000, 4000},    {4, 50, 1000, 6796},   {4, 100, 1000, 8000},
      {4, 1000, 1000, 12000}, {5, 100, 2000, 20000}, {3, 500, 1000, 8097},
  };
  for (const Case& c : cases) {
    CAPTURE(c.members);
    CHECK(suspicion_timeout(c.multiplier, c.members, std::chrono::milliseconds(c.interval_ms)) ==
          std::chrono::milliseconds(c.timeout_ms));
  }
}

}  // namespace torc::membership
