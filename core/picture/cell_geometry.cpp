#include "core/picture/cell_geometry.h"

#include <algorithm>
#include <cmath>

#include "core/picture/plane_rule.h"

namespace headwise {

RectF PlaneGeometry::rect(const CellBox& box) const {
  const int x0 = cell_begin(box.col_begin, cols, width) + (box.col_begin > 0 ? gap : 0);
  const int y0 = cell_begin(box.row_begin, rows, height) + (box.row_begin > 0 ? gap : 0);
  const int x1 = cell_begin(box.col_end, cols, width), y1 = cell_begin(box.row_end, rows, height);
  return {static_cast<double>(x + x0), static_cast<double>(y + y0), static_cast<double>(std::max(x1 - x0, 1)),
          static_cast<double>(std::max(y1 - y0, 1))};
}

std::optional<std::pair<Index, Index>> PlaneGeometry::cell_at(double px, double py) const {
  const double u = std::floor(px) - x, v = std::floor(py) - y;
  if (!(u >= 0 && v >= 0 && u < width && v < height) || rows <= 0 || cols <= 0) return std::nullopt;
  // The cell whose pixels contain this one's centre.
  const auto at = [](double pixel, Index count, int pixels) {
    const auto index = static_cast<Index>((2 * pixel + 1) * static_cast<double>(count) / (2.0 * pixels));
    return std::clamp<Index>(index, 0, count - 1);
  };
  return std::pair(at(v, rows, height), at(u, cols, width));
}

PlaneGeometry plane_geometry(const RectF& rect, Index rows, Index cols) {
  PlaneGeometry plane;
  plane.x = static_cast<int>(std::round(rect.x));
  plane.y = static_cast<int>(std::round(rect.y));
  plane.width = static_cast<int>(std::round(rect.x + rect.width)) - plane.x;
  plane.height = static_cast<int>(std::round(rect.y + rect.height)) - plane.y;
  plane.rows = rows;
  plane.cols = cols;
  if (rows > 0 && cols > 0 && plane.width > 0 && plane.height > 0) {
    plane.gap = plane_rule(rows, cols, plane.width, plane.height).gap;
  }
  return plane;
}

}  // namespace headwise
