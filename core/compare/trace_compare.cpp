#include "core/compare/trace_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double largest_finite(const Tensor& tensor) {
  double largest = 0.0;
  for (Index i = 0; i < tensor.size(); ++i) {
    const double magnitude = std::abs(tensor.flat(i));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest;
}

// All digits; without the sign that a NaN may have.
std::string digits(double value) {
  return std::isnan(value) ? "nan" : fmt::format("{:.17g}", value);
}

// The tensors to compare, in the order of computation; gradients run from the output back.
std::vector<TensorName> names_in_order() {
  std::vector<TensorName> names;
  for (const TensorEntry& entry : tensor_entries()) names.push_back({entry.id, false});
  for (std::size_t i = names.size(); i-- > 0;) names.push_back({names[i].id, true});
  return names;
}

}  // namespace

std::optional<TensorDifference> TraceComparison::first_difference() const {
  const auto first = std::ranges::find_if_not(tensors, &TensorDifference::agrees);
  return first == tensors.end() ? std::nullopt : std::optional(*first);
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
  const double unit = std::min(1.0, std::max({largest_finite(ours), largest_finite(theirs), least_unit}));
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

TraceComparison compare_traces(const Trace& ours, const Trace& theirs, double tolerance) {
  TraceComparison comparison;
  for (const TensorName name : names_in_order()) {
    const TensorPtr our_tensor = ours.tensor(name);
    const TensorPtr their_tensor = theirs.tensor(name);
    if (our_tensor && their_tensor) {
      comparison.tensors.push_back(compare_tensors(name, *our_tensor, *their_tensor, tolerance));
    } else if (our_tensor) {
      comparison.only_ours.push_back(name);
    } else if (their_tensor) {
      comparison.only_theirs.push_back(name);
    }
  }
  return comparison;
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
