// Where the cells of a plane are on the screen: the same whole pixels as in the plane's rule
// (core/picture/plane_rule.h).
#pragma once

#include <optional>
#include <utility>

#include "core/picture/picture.h"

namespace headwise {

// Cells [row_begin, row_end) × [col_begin, col_end), as drawn.
struct CellBox {
  Index row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  friend bool operator==(const CellBox&, const CellBox&) = default;
};

struct PlaneGeometry {
  int x = 0, y = 0, width = 0, height = 0;  // pixels
  Index rows = 0, cols = 0;
  int gap = 0;  // between cells, before each except the first

  // The box without the gap before it.
  RectF rect(const CellBox& box) const;
  RectF cell(Index row, Index col) const { return rect({row, row + 1, col, col + 1}); }
  // Row and column of the cell at a point; nullopt outside.
  std::optional<std::pair<Index, Index>> cell_at(double px, double py) const;
};

// The corners are rounded to whole pixels, as in the renderer.
PlaneGeometry plane_geometry(const RectF& rect, Index rows, Index cols);

}  // namespace headwise
