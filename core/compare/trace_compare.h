// Compares two tensors: in how many cells they differ, by how much, and in which cell the most.
#pragma once

#include <string>
#include <vector>

#include "core/attention/trace.h"

namespace headwise {

// A cell differs if |ours − theirs| > tolerance · max(|ours|, |theirs|, u), where u is the largest finite
// magnitude in either tensor (or `least_unit`, if that is larger), but at most 1. So numbers near 0 are
// judged by the size of their neighbours, a tensor of small numbers by its own size, and a fill of −1e9 hides
// nothing. NaN equals only NaN, an infinity only the same infinity.
struct TensorDifference {
  TensorName tensor;
  std::string our_shape, their_shape;  // "(1,8,12,12)"; where they differ, nothing below is filled in
  Index cells = 0;                     // compared
  Index differing_cells = 0;           // beyond the tolerance
  Index non_finite_mismatches = 0;     // of these, NaN or ±∞ on one side only
  double largest_absolute = 0.0;       // |ours − theirs|; ∞ if NaN or ±∞ meets anything else
  double largest_relative = 0.0;       // the same, divided by the maximum above; possibly in another cell
  // The differing cell with the largest |ours − theirs|, the first if tied; if no cell differs, the same over
  // all cells; empty if all are equal.
  std::vector<Index> worst;
  double ours = 0.0, theirs = 0.0;                    // the values there
  double worst_absolute = 0.0, worst_relative = 0.0;  // and how far apart they are

  bool shapes_agree() const { return our_shape == their_shape; }
  bool agrees() const { return shapes_agree() && differing_cells == 0; }
};

// The largest finite |a|: the reference for a difference.
double largest_magnitude(const Tensor& a);

// The tolerance between two correct programs: 1e-10 in f64, 1e-5 if either side is f32.
double default_tolerance(DType ours, DType theirs);

// Names of axes and types may differ, sizes may not.
TensorDifference compare_tensors(TensorName name, const Tensor& ours, const Tensor& theirs, double tolerance,
                                 double least_unit = 0.0);

// One line: "scores: 3 of 1152 cells differ, the most at [0,2,3,1]: ours 1.5, theirs 1.25 (absolute 0.25,
// relative 0.17)".
std::string difference_text(const TensorDifference& difference);

}  // namespace headwise
