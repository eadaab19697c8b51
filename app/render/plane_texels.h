// The cells of a heatmap's plane as the texels that the shader reads: one per cell or, if cells are smaller than a pixel,
// one per pixel, holding the most significant cell below it (core/picture/plane_rule.h). Knows nothing about GL.
#pragma once

#include <vector>

#include "core/picture/heatmap.h"

namespace headwise {

// A grid of texels over the rows and columns of a view, and a box of it. Texel (r, c) stands for the cells [r·R/rows,
// (r+1)·R/rows) in rows, rounded outwards, likewise in columns.
struct TexelGrid {
  int rows = 0, cols = 0;  // at least 1, at most the rows R and columns of the view
  int first_row = 0, first_col = 0, box_rows = 0, box_cols = 0;
  friend auto operator<=>(const TexelGrid&, const TexelGrid&) = default;
};

struct PlaneTexels {
  // (box_rows, box_cols, 2): value and CellKind. value = (v − offset) · 2^−exponent, within [−1, 1], so that f64 values of
  // any magnitude keep the precision of a float. 0 if the kind does not show its value.
  std::vector<float> texels;
  double offset = 0.0;
  int exponent = 0;
  bool plain = true;  // every texel is CellKind::value
};

PlaneTexels plane_texels(const HeatmapSpec& spec, const TexelGrid& grid);

}  // namespace headwise
