// A matrix of a tensor as a picture: what is drawn, independent of pixels.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/export/color_map.h"
#include "core/tensor/tensor.h"

namespace headwise {

// Two axes of a tensor at fixed indices of the others; rows and columns may be swapped.
struct MatrixView {
  TensorPtr tensor;
  Index offset = 0;  // of cell (0,0), in elements
  Index rows = 0, cols = 0;
  Index row_stride = 0, col_stride = 0;

  Index flat(Index row, Index col) const { return offset + row * row_stride + col * col_stride; }
  double value(Index row, Index col) const { return tensor->flat(flat(row, col)); }
  MatrixView transposed() const { return {tensor, offset, cols, rows, col_stride, row_stride}; }
};

// The last two axes at the given leading index, whose missing entries are 0 (rank 1: one row; rank 0: one
// cell). Throws Error(usage) for an index that is too long or out of range.
MatrixView matrix_view(TensorPtr tensor, std::span<const Index> leading = {});

// Range over the finite values of one view or of many. Diverging: [-m, m], where m is the largest magnitude;
// sequential: [min, max], and [0, max] for probabilities (below 0 only if a value is). No finite value, and
// probabilities that are all 0: [0,1] or [-1,1].
ValueRange range_of(std::span<const MatrixView> views, bool diverging, bool probabilities);

struct HeatmapSpec {
  MatrixView values;
  // A cell is blocked where the mask (mask_bias at the same cells) is -inf. Empty: nothing is blocked.
  std::optional<MatrixView> mask;
  // The value of blocked cells: -inf, or the finite one that the scenario fills them with; +inf: any, and
  // where the mask is +inf a cell keeps its number, hatched (core/attention/blocked_cells.h).
  double blocked_at = -std::numeric_limits<double>::infinity();
  ColorMap color_map = ColorMap::blue_orange;
  ValueRange range;
  std::string range_note;  // what the colour bar covers: "this head", "all heads", "fixed"
  Theme theme = Theme::light;
  std::string title;                                // "attn_weights[0,3] — L×S = 12×12"
  std::string row_axis, col_axis;                   // "query", "key", "d"
  std::vector<std::string> row_labels, col_labels;  // empty: indices
  bool digits = true;                               // numbers in the cells if they fit
};

// Throws Error(usage) if the mask has other rows or columns than the values. Everything that takes a whole
// spec checks this.
void check_mask(const HeatmapSpec& spec);

// What a cell shows. A blocked cell whose value adds no information (0, -inf or `blocked_at`) is only marked
// as blocked; one that still carries a value (possible in a row whose keys are all blocked) shows it,
// hatched, and NaN is never hidden.
enum class CellKind : std::uint8_t { value, blocked, blocked_value, nan, minus_inf, plus_inf };
CellKind cell_kind(const HeatmapSpec& spec, Index row, Index col);

// The number of cells of each kind, and the finite values that are shown (not those that are only blocked).
struct HeatmapContents {
  Index values = 0, blocked = 0, blocked_values = 0, nans = 0, minus_infs = 0, plus_infs = 0;
  Index below = 0, above = 0;  // finite values outside spec.range
  double min = 0.0, max = 0.0;
  bool finite() const { return values + blocked_values > 0; }
};
// Of an outline, whose values are not known yet: none.
HeatmapContents heatmap_contents(const HeatmapSpec& spec);

// As above, over what the heatmaps show: cells that are only blocked do not count, so a mask that fills with
// -1e9 does not flatten the colours of everything else. The ranges in the specs are ignored.
ValueRange range_of(std::span<const HeatmapSpec> specs, bool diverging, bool probabilities);

}  // namespace headwise
