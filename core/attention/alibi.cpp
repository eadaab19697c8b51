#include "core/attention/alibi.h"

#include <bit>
#include <cmath>
#include <cstdlib>

namespace headwise {
namespace {

double slope_of(Index h, Index heads) {
  return std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(heads));
}

}  // namespace

std::vector<double> alibi_slopes(Index heads, double scale) {
  std::vector<double> slopes;
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  for (Index h = 0; h < power; ++h) slopes.push_back(slope_of(h, power));
  for (Index h = 0; power + h < heads; ++h) slopes.push_back(slope_of(2 * h, 2 * power));
  for (double& slope : slopes) slope *= scale;
  return slopes;
}

double alibi_bias(double slope, Index distance, bool is_causal) {
  if (distance < 0 && is_causal) return 0.0;
  return -slope * static_cast<double>(std::abs(distance));
}

}  // namespace headwise
