#include "core/compare/trace_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// All digits; without the sign that a NaN may have.
std::string digits(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.17g}", value);
}

}  // namespace

double largest_magnitude(const Tensor& a) {
  double largest = 0.0;
  for (Index i = 0; i < a.size(); ++i) {
    const double magnitude = std::abs(a.flat(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

double default_tolerance(DType ours, DType theirs) {
  return ours == DType::f32 || theirs == DType::f32 ? 1e-5 : 1e-10;
}

TensorDifference compare_tensors(TensorName name, const Tensor& ours, const Tensor& theirs, double tolerance,
                                 double least_unit) {
  TensorDifference difference;
  difference.tensor = name;
  difference.our_shape = ours.shape().sizes_text();
  difference.their_shape = theirs.shape().sizes_text();
  if (!difference.shapes_agree()) return difference;
  difference.cells = ours.size();
  const double unit = std::min(1.0, std::max({largest_magnitude(ours), largest_magnitude(theirs), least_unit}));
  Index worst = -1;
  double worst_absolute = 0.0, worst_relative = 0.0;
  bool worst_differs = false;
  for (Index i = 0; i < ours.size(); ++i) {
    const double a = ours.flat(i);
    const double b = theirs.flat(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const bool finite = std::isfinite(a) && std::isfinite(b);
    const double absolute = finite ? std::abs(a - b) : infinity;
    const double relative = finite ? absolute / std::max({std::abs(a), std::abs(b), unit}) : infinity;
    if (!finite) ++difference.non_finite_mismatches;
    const bool differs = relative > tolerance;
    if (differs) ++difference.differing_cells;
    difference.largest_absolute = std::max(difference.largest_absolute, absolute);
    difference.largest_relative = std::max(difference.largest_relative, relative);
    if (differs == worst_differs ? absolute > worst_absolute : differs) {
      worst = i;
      worst_absolute = absolute;
      worst_relative = relative;
      worst_differs = differs;
    }
  }
  if (worst >= 0) {
    difference.worst = ours.shape().index_of(worst);
    difference.ours = ours.flat(worst);
    difference.theirs = theirs.flat(worst);
    difference.worst_absolute = worst_absolute;
    difference.worst_relative = worst_relative;
  }
  return difference;
}

std::string difference_text(const TensorDifference& difference) {
  const std::string name = to_string(difference.tensor);
  if (!difference.shapes_agree()) {
    return fmt::format("{}: the shapes differ: ours {}, theirs {}", name, difference.our_shape,
                       difference.their_shape);
  }
  if (difference.worst.empty()) return fmt::format("{}: all {} cells are equal", name, difference.cells);
  const std::string found =
      difference.differing_cells == 0
          ? fmt::format("all {} cells agree", difference.cells)
          : fmt::format("{} of {} cells differ", difference.differing_cells, difference.cells);
  return fmt::format("{}: {}, the most at [{}]: ours {}, theirs {} (absolute {:.3g}, relative {:.3g})", name,
                     found, join(difference.worst, ","), digits(difference.ours), digits(difference.theirs),
                     difference.worst_absolute, difference.worst_relative);
}

}  // namespace headwise
