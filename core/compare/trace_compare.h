// Two traces held against each other, tensor by tensor in the order of computation: which tensor is the first
// that differs, by how much, and in which cell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace headwise {

// A cell differs where |ours − theirs| > tolerance · max(|ours|, |theirs|, u), u being the largest finite
// magnitude in either tensor (or `least_unit`, if that is more), but at most 1. So numbers near 0 are judged by the size of their neighbours, a
// tensor of small numbers by its own size, and a fill of −1e9 hides nothing. NaN agrees with NaN alone, an
// infinity with the same one.
struct TensorDifference {
  TensorName tensor;
  std::string our_shape, their_shape;  // "(1,8,12,12)"; where they differ, nothing below is filled in
  Index cells = 0;                     // compared
  Index differing_cells = 0;           // beyond the tolerance
  Index non_finite_mismatches = 0;     // of these, NaN or ±∞ on one side and not on the other
  double largest_absolute = 0.0;       // |ours − theirs|; ∞ where NaN or ±∞ meets anything else
  double largest_relative = 0.0;       // the same, divided by the maximum above; perhaps in another cell
  // The differing cell where |ours − theirs| is largest, the first of equals; where no cell differs, the same of
  // all cells; empty where all are equal.
  std::vector<Index> worst;
  double ours = 0.0, theirs = 0.0;                    // the values there
  double worst_absolute = 0.0, worst_relative = 0.0;  // and how far apart they are

  bool shapes_agree() const { return our_shape == their_shape; }
  bool agrees() const { return shapes_agree() && differing_cells == 0; }
};

struct TraceComparison {
  std::vector<TensorDifference> tensors;  // those that both have: values first, then gradients from the output back
  std::vector<TensorName> only_ours, only_theirs;

  // The first that does not agree; none where all do.
  std::optional<TensorDifference> first_difference() const;
};

// What two correct programs may differ by: 1e-10 in f64, 1e-5 where either side is f32.
double default_tolerance(DType ours, DType theirs);

TensorDifference compare_tensors(TensorName name, const Tensor& ours, const Tensor& theirs, double tolerance,
                                 double least_unit = 0.0);

// Names of axes and types may differ, sizes may not.
TraceComparison compare_traces(const Trace& ours, const Trace& theirs, double tolerance);

// One line: "scores: 3 of 1152 cells differ, the most at [0,2,3,1]: ours 1.5, theirs 1.25 (absolute 0.25,
// relative 0.17)".
std::string difference_text(const TensorDifference& difference);

}  // namespace headwise
