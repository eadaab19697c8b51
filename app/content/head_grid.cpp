#include "app/content/head_grid.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// In units.
constexpr double head_number_height = 15.0;
constexpr double head_caption_height = 20.0;

}  // namespace

RectF HeadGrid::thumbnail(Index head) const {
  const double column = static_cast<double>(head % columns), row = static_cast<double>(head / columns);
  return {area.x + column * pitch_x, area.y + row * pitch_y, side, side};
}

RectF HeadGrid::number_line(Index head) const {
  const RectF above = thumbnail(head);
  return {above.x, above.y + above.height, above.width, pitch_y - side};
}

HeadGrid head_grid(Index heads, RectF area, double scale, double largest) {
  HeadGrid grid;
  grid.caption = {area.x, area.y, area.width, head_caption_height * scale};
  area.y += grid.caption.height;
  area.height -= grid.caption.height;
  grid.area = area;
  const double gap = (heads > 16 ? 5.0 : 9.0) * scale;
  const double under = head_number_height * scale;
  for (Index columns = 1; columns <= std::max<Index>(heads, 1); ++columns) {
    const double c = static_cast<double>(columns);
    const double r = std::ceil(static_cast<double>(heads) / c);
    const double side = std::floor(std::min(
        {(area.width - (c - 1) * gap) / c, (area.height - r * under - (r - 1) * gap * 0.5) / r, largest}));
    // Among equal sizes, the one with fewer rows.
    if (side >= grid.side || grid.columns == 0) {
      grid.side = std::max(0.0, side);
      grid.columns = columns;
    }
  }
  // The same number of rows, evenly filled.
  const Index rows = (heads + grid.columns - 1) / std::max<Index>(grid.columns, 1);
  grid.columns = (heads + rows - 1) / std::max<Index>(rows, 1);
  grid.pitch_x = grid.side + gap;
  grid.pitch_y = grid.side + under + gap * 0.5;
  return grid;
}

}  // namespace headwise
