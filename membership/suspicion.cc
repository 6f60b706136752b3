#include "membership/suspicion.h"

#include <algorithm>
#include <cmath>

namespace torc::membership {

Duration suspicion_timeout(uint32_t multiplier, size_t members, Duration probe_interval) {
  const double magnitude = std::log10(static_cast<double>(std::max<size_t>(members, 1)));
  // Rounded to thousandths, so that the last bit of log10 cannot differ between machines.
  const auto scale = static_cast<Duration::rep>(std::round(std::max(1.0, magnitude) * 1000));
  return probe_interval * multiplier * scale / 1000;
}

}  // namespace torc::membership
