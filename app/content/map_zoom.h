// Which part of a large map is shown: from the whole down to a few cells.
#pragma once

#include "core/backend/weight_tiles.h"

namespace headwise {

// A square of cells; where the map is not square, its shorter axis ends before the square does.
struct MapZoom {
  static constexpr double least_side = 8.0;  // cells

  double row = 0.0, col = 0.0;  // of the upper left corner, in cells
  double side = 0.0;            // in cells; 0: the whole map

  friend bool operator==(const MapZoom&, const MapZoom&) = default;
};

// The same part, clamped to a map of this size; side 0 becomes the whole map's side.
MapZoom within(const MapZoom& zoom, Index rows, Index cols);
// `factor` > 1 zooms in. The point at (u, v), 0 … 1 from left to right and from top to bottom,
// stays where it is.
MapZoom zoomed(const MapZoom& zoom, double factor, double u, double v, Index rows, Index cols);
// Moved by fractions of its side.
MapZoom moved(const MapZoom& zoom, double right, double down, Index rows, Index cols);
// The visible whole cells.
CellRange visible_rows(const MapZoom& zoom, Index rows, Index cols);
CellRange visible_cols(const MapZoom& zoom, Index rows, Index cols);

}  // namespace headwise
