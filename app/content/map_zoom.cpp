#include "app/content/map_zoom.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

CellRange visible(double first, double side, Index count) {
  const Index begin =
      std::clamp<Index>(static_cast<Index>(std::floor(first)), 0, std::max<Index>(count - 1, 0));
  const Index cells = std::max<Index>(1, static_cast<Index>(std::llround(side)));
  return {begin, std::min(begin + cells, count)};
}

}  // namespace

MapZoom within(const MapZoom& zoom, Index rows, Index cols) {
  const double whole = static_cast<double>(std::max(rows, cols));
  const double least = std::min(MapZoom::least_side, whole);
  MapZoom kept = zoom;
  kept.side = zoom.side <= 0.0 ? whole : std::clamp(zoom.side, least, whole);
  kept.row = std::clamp(zoom.row, 0.0, std::max(0.0, static_cast<double>(rows) - kept.side));
  kept.col = std::clamp(zoom.col, 0.0, std::max(0.0, static_cast<double>(cols) - kept.side));
  return kept;
}

MapZoom zoomed(const MapZoom& zoom, double factor, double u, double v, Index rows, Index cols) {
  const MapZoom from = within(zoom, rows, cols);
  MapZoom to = from;
  to.side = within({0, 0, from.side / factor}, rows, cols).side;
  to.row = from.row + v * (from.side - to.side);
  to.col = from.col + u * (from.side - to.side);
  return within(to, rows, cols);
}

MapZoom moved(const MapZoom& zoom, double right, double down, Index rows, Index cols) {
  MapZoom to = within(zoom, rows, cols);
  to.row += down * to.side;
  to.col += right * to.side;
  return within(to, rows, cols);
}

CellRange visible_rows(const MapZoom& zoom, Index rows, Index cols) {
  const MapZoom kept = within(zoom, rows, cols);
  return visible(kept.row, kept.side, rows);
}

CellRange visible_cols(const MapZoom& zoom, Index rows, Index cols) {
  const MapZoom kept = within(zoom, rows, cols);
  return visible(kept.col, kept.side, cols);
}

}  // namespace headwise
