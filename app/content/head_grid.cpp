#include "app/content/head_grid.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// In units.
constexpr double head_number_height = 16.0;  // also holds the lower edge of the frame
constexpr double head_caption_height = 20.0;
constexpr double between_names = 7.0;
constexpr double least_share_beside_names = 0.8;  // of a thumbnail's side

double gap_between(Index heads, double scale) {
  return (heads > 16 ? 5.0 : 9.0) * scale;
}

// `under`: height of the lines under each thumbnail.
HeadGrid sized_grid(Index heads, RectF area, double scale, double largest, double under) {
  HeadGrid grid;
  grid.caption = {area.x, area.y, area.width, head_caption_height * scale};
  area.y += grid.caption.height;
  area.height -= grid.caption.height;
  grid.area = area;
  const double gap = gap_between(heads, scale);
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
  grid.number_height = head_number_height * scale;
  grid.pitch_y = grid.side + under + gap * 0.5;
  return grid;
}

}  // namespace

RectF HeadGrid::thumbnail(Index head) const {
  const double column = static_cast<double>(head % columns), row = static_cast<double>(head / columns);
  return {area.x + column * pitch_x, area.y + row * pitch_y, side, side};
}

RectF HeadGrid::number_line(Index head) const {
  const RectF above = thumbnail(head);
  return {above.x, above.y + above.height, above.width, number_height};
}

RectF HeadGrid::name_line(Index head) const {
  const RectF above = number_line(head);
  return {above.x, above.y + above.height, pitch_x, name_height};
}

HeadGrid head_grid(Index heads, RectF area, double scale, double largest, const std::vector<double>& names) {
  const HeadGrid plain = sized_grid(heads, area, scale, largest, head_number_height * scale);
  if (names.empty()) return plain;
  const double name_height = head_name_units * scale;
  HeadGrid grid = sized_grid(heads, area, scale, largest, head_number_height * scale + name_height);
  if (grid.side < least_share_beside_names * plain.side) return plain;
  for (std::size_t form = 0; form < names.size(); ++form) {
    const double pitch = std::max(grid.pitch_x, std::ceil(names[form] + between_names * scale));
    if (pitch * static_cast<double>(grid.columns) > area.width + between_names * scale) continue;
    grid.pitch_x = pitch;
    grid.name_form = form;
    grid.name_height = name_height;
    return grid;
  }
  return plain;
}

}  // namespace headwise
