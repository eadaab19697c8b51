// How far apart two sets of numbers are, in the words that people use: the largest |Δ|, and ‖Δ‖ of ‖before‖.
#pragma once

#include <optional>
#include <string>

#include "core/picture/heatmap.h"

namespace headwise {

// From `before` to `after`. NaN agrees with NaN and an infinity with the same one. Lengths are over the cells that are finite
// on both sides.
struct TensorChange {
  Index cells = 0;
  Index changed = 0;           // cells that differ
  Index mismatches = 0;        // of these, finite on one side only, or ∞ against −∞ or NaN
  Index not_finite = 0;        // cells of `after` that are NaN or infinite
  double largest = 0.0;        // max |after − before| over cells finite on both sides
  Index row = -1, col = -1;    // where, the first of equals; −1 where no finite cell changed
  double length = 0.0;         // ‖after − before‖ = √Σ (after − before)²
  double length_before = 0.0;  // ‖before‖

  // ‖after − before‖ / ‖before‖; none where `before` is 0 everywhere, or no cell is finite on both sides.
  std::optional<double> relative() const;
};

// The views must have the same rows and columns.
TensorChange tensor_change(const MatrixView& before, const MatrixView& after);
// All cells of both, as one row each; the sizes must agree.
TensorChange tensor_change(const TensorPtr& before, const TensorPtr& after);

// TensorChange::largest alone, in a quicker way. None where a cell is not finite on both sides, where a difference
// overflows, or where the tensors are not f32: then tensor_change() tells.
std::optional<double> largest_change(const TensorPtr& before, const TensorPtr& after);

// "7.3 %", "0.042 %", "120 %": two digits that count, without exponents for what a person would meet.
std::string percent_text(double share);

// after − before, (rows,cols) in f64: 0 where both are the same, NaN or ∞ where one side is.
TensorPtr difference_of(const MatrixView& before, const MatrixView& after);

}  // namespace headwise
