#include "placement/fixed_log.h"

#include <array>
#include <bit>
#include <cstddef>

namespace torc::placement {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kBits = 63;  // behind the point, while computing
constexpr uint64_t kOne = uint64_t{1} << kBits;
constexpr uint64_t kLog2E = 0x5c551d94ae0bf85d;  // 1 / ln 2, 62 bits behind the point

// Bit by bit: squaring doubles the logarithm, so each squaring yields its next bit (C. Turner, "A
// Fast Binary Logarithm Algorithm", IEEE Signal Processing Magazine 27(5), 2010). Too slow for
// every hash, right for the tables. REQUIRES: 1 <= x < 2.
constexpr uint64_t log2_by_bits(uint64_t x) {
  uint64_t result = 0;
  for (int bit = kBits - 1; bit >= 0; --bit) {
    const Wide square = Wide{x} * x;
    if (square >> (2 * kBits + 1)) {
      result |= uint64_t{1} << bit;
      x = static_cast<uint64_t>(square >> (kBits + 1));
    } else {
      x = static_cast<uint64_t>(square >> kBits);
    }
  }
  return result;
}

// For c = 1 + i / 2^scale: log2(c), and the smallest number that makes x / c >= 1 for all x >= c.
struct Step {
  uint64_t log;
  uint64_t reciprocal;  // 64 bits behind the point; 0 for i = 0, where nothing is divided
};

template <size_t kSize>
constexpr std::array<Step, kSize> make_steps(int scale) {
  std::array<Step, kSize> steps{};
  for (size_t i = 1; i < kSize; ++i) {
    const uint64_t c = (uint64_t{1} << scale) + i;
    steps[i].log = log2_by_bits(c << (kBits - scale));
    steps[i].reciprocal = static_cast<uint64_t>((Wide{1} << (64 + scale)) / c + 1);
  }
  return steps;
}

// Rounding up can take x / c to the next step's beginning.
constexpr auto kCoarse = make_steps<256>(8);
constexpr auto kFine = make_steps<257>(16);

uint64_t divide(uint64_t x, uint64_t reciprocal) {
  return reciprocal == 0 ? x : static_cast<uint64_t>((Wide{x} * reciprocal) >> 64);
}

// log2 of 1 <= x < 2 by two table steps and the series for what remains, which is below 2^-16
// (P. T. P. Tang, "Table-Driven Implementation of the Logarithm Function", ACM TOMS 16(4), 1990).
uint64_t log2_of(uint64_t x) {
  const Step& coarse = kCoarse[(x - kOne) >> (kBits - 8)];
  x = divide(x, coarse.reciprocal);
  const Step& fine = kFine[(x - kOne) >> (kBits - 16)];
  const uint64_t r = divide(x, fine.reciprocal) - kOne;
  const auto r2 = static_cast<uint64_t>((Wide{r} * r) >> kBits);
  const auto r3 = static_cast<uint64_t>((Wide{r2} * r) >> kBits);
  const uint64_t natural = r - r2 / 2 + r3 / 3;
  return coarse.log + fine.log + static_cast<uint64_t>((Wide{natural} * kLog2E) >> 62);
}

}  // namespace

uint64_t negative_log2(uint64_t hash) {
  if (hash == UINT64_MAX) return 0;
  const uint64_t x = hash + 1;
  const int zeros = std::countl_zero(x);
  const auto whole = static_cast<uint64_t>(64 - (63 - zeros));
  return (whole << kLogFractionBits) - (log2_of(x << zeros) >> (kBits - kLogFractionBits));
}

}  // namespace torc::placement
