// How far apart two sets of numbers are, in common terms: the largest |Δ|, and ‖Δ‖ relative to ‖before‖.
#pragma once

#include <optional>
#include <string>

#include "core/export/heatmap.h"

namespace headwise {

// From `before` to `after`. NaN equals NaN and an infinity the same infinity. Norms are over the cells that
// are finite on both sides.
struct TensorChange {
  Index cells = 0;
  Index changed = 0;           // cells that differ
  Index mismatches = 0;        // of these, finite on one side only, or ∞ against −∞ or NaN
  Index not_finite = 0;        // cells of `after` that are NaN or infinite
  double largest = 0.0;        // max |after − before| over cells finite on both sides
  Index row = -1, col = -1;    // its position, the first if tied; −1 if no finite cell changed
  double length = 0.0;         // ‖after − before‖ = √Σ (after − before)²
  double length_before = 0.0;  // ‖before‖

  // ‖after − before‖ / ‖before‖; nullopt if `before` is 0 everywhere, or no cell is finite on both sides.
  std::optional<double> relative() const;
};

// The views must have the same numbers of rows and columns.
TensorChange tensor_change(const MatrixView& before, const MatrixView& after);
// All cells of both, as one row each; the sizes must agree.
TensorChange tensor_change(const TensorPtr& before, const TensorPtr& after);

// Only TensorChange::largest, but faster. nullopt if a cell is not finite on both sides, a difference
// overflows, or the tensors are not f32: then use tensor_change().
std::optional<double> largest_change(const TensorPtr& before, const TensorPtr& after);

// "7.3 %", "0.042 %", "120 %": two significant digits, without exponents for ordinary numbers.
std::string percent_text(double share);

// after − before, (rows,cols) in f64: 0 if both are the same, NaN or ∞ if one side is.
TensorPtr difference_of(const MatrixView& before, const MatrixView& after);

}  // namespace headwise
