#include "core/scenario/position_kernel.h"

#include <algorithm>
#include <cmath>

#include "core/scenario/positional_encoding.h"

namespace headwise {

PositionKernel PositionKernel::strided(Index count, Index stride, Index of) {
  PositionKernel kernel;
  for (Index i = 0; i < count; ++i) {
    kernel.pairs.push_back(i * stride);
    kernel.frequencies.push_back(sinusoid_frequency(i * stride, of));
  }
  return kernel;
}

double PositionKernel::value(Index distance) const {
  double sum = 0.0;
  for (const double frequency : frequencies) sum += std::cos(frequency * static_cast<double>(distance));
  return sum;
}

double PositionKernel::largest_beside(Index reach) const {
  double largest = -peak();
  for (Index distance = 1; distance < reach; ++distance) largest = std::max(largest, value(distance));
  return largest;
}

double PositionKernel::smallest(Index reach) const {
  double least = peak();
  for (Index distance = 1; distance < reach; ++distance) least = std::min(least, value(distance));
  return least;
}

double PositionKernel::sharpness(Index reach, double share, double most) const {
  // Σ over one side of exp(β·(K(δ) − K(0))) decreases with β: bisection.
  const double allowed = (1.0 / share - 1.0) / 2.0;
  if (std::exp(-most * (peak() - value(1))) > allowed) return most;  // the adjacent one alone takes too much
  std::vector<double> gaps;
  for (Index distance = 1; distance < reach; ++distance) gaps.push_back(peak() - value(distance));
  double low = 0.0, high = most;
  for (int step = 0; step < 50; ++step) {
    const double beta = (low + high) / 2.0;
    double beside = 0.0;
    for (const double gap : gaps) beside += std::exp(-beta * gap);
    (beside <= allowed ? high : low) = beta;
  }
  return high;
}

}  // namespace headwise
