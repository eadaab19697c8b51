#include "app/content/head_rows_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

constexpr double head_row_units = 64.0, least_head_row_units = 15.0;
constexpr double widest_cell_units = 58.0, least_cells_units = 120.0;
constexpr double words_units = 300.0, least_words_units = 190.0, words_gap_units = 22.0;
constexpr double beside_units = 520.0;  // in less width the words go below
constexpr double words_height_units = 150.0;
constexpr double slanted_label_share = 0.72;  // of a slanted label, by its width
constexpr double label_gap_units = 12.0;      // between cells and their labels, with the end of a slanted one

}  // namespace

RectF HeadRowsLayout::name(Index row) const {
  const double pitch = cells.height / static_cast<double>(std::max<Index>(row_count, 1));
  return {names_x, cells.y + pitch * static_cast<double>(row), name_width, pitch};
}

HeadRowsLayout head_rows_layout(const HeadRowsShape& shape, const RectF& area, double scale) {
  HeadRowsLayout layout;
  if (shape.heads <= 0 || shape.keys <= 0) return layout;
  RectF rows = area;
  const double gap = words_gap_units * scale;
  if (shape.words && area.width >= beside_units * scale) {
    const double width = std::clamp(0.28 * area.width, least_words_units * scale, words_units * scale);
    layout.words = {area.x + area.width - width, area.y, width, area.height};
    rows.width = area.width - width - gap;
  } else if (shape.words && area.height >= 2.2 * words_height_units * scale) {
    const double height = words_height_units * scale;
    layout.words = {area.x, area.y + area.height - height, area.width, height};
    rows.height = area.height - height - 0.5 * gap;
  }
  layout.names_x = rows.x;
  layout.name_width = std::min(shape.name_width, 0.4 * rows.width);
  const double x = rows.x + layout.name_width + 8.0 * scale;
  const double width =
      std::min(rows.x + rows.width - x, widest_cell_units * scale * static_cast<double>(shape.keys));
  if (width < std::min(least_cells_units * scale, 4.0 * static_cast<double>(shape.keys)) || width <= 0.0)
    return layout;

  const double pitch_x = width / static_cast<double>(shape.keys);
  layout.slanted = shape.key_label_width + 6.0 * scale > pitch_x;
  const double label = shape.key_label_width <= 0.0 ? 0.0
                       : layout.slanted ? slanted_label_share * shape.key_label_width + label_gap_units * scale
                                        : 26.0 * scale;
  layout.key_labels = label > 0.0 && label < 0.4 * rows.height;
  const double height = rows.height - (layout.key_labels ? label : 0.0);
  const auto room = static_cast<Index>(std::floor(height / (least_head_row_units * scale)));
  layout.row_count = std::clamp<Index>(room, 0, shape.heads);
  if (layout.row_count == 0) return layout;
  const double pitch = std::min(height / static_cast<double>(layout.row_count), head_row_units * scale);
  layout.cells = {x, rows.y, width, pitch * static_cast<double>(layout.row_count)};
  return layout;
}

}  // namespace headwise
