#include "app/content/stage_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headwise {
namespace {

// In units. Tuned by eye at 1280×720 and 1600×1000 with 12 tokens, 8 heads and embed_dim 128.
constexpr double line_height = 15.0;
constexpr double label_gap = 8.0;
constexpr double widest_cell = 84.0;
constexpr double tallest_cell = 58.0;
constexpr double widest_inner_cell = 52.0;
constexpr double tallest_inner_cell = 34.0;
constexpr double figure_width = 44.0;
constexpr double figure_gap = 6.0;
constexpr double figure_height = 15.0;                                     // of a row of them
constexpr double narrowest_operand_cell = 7.0, lowest_operand_cell = 4.0;  // so that the result shows numbers
constexpr double lowest_mask_cell = 5.0;
constexpr double bias_height = 12.0;
constexpr double bar_width = 150.0;
constexpr double bar_height = 8.0;
constexpr double shortest_bar = 96.0;
constexpr double bar_gap = 30.0;
constexpr double bar_block_height = 44.0;
constexpr double largest_thumbnail = 64.0;
constexpr double smallest_corner_thumbnail = 30.0;
constexpr double smallest_band_thumbnail = 22.0;
constexpr double head_number_height = 15.0;
constexpr double head_caption_height = 20.0;
constexpr double largest_band_share = 0.44;
// Of a map in a grid: from here on at least every third row and every fourth column has room for its name.
constexpr double least_named_row = 4.0, least_named_col = 4.5;
constexpr double least_share_with_names = 0.5;  // of the maps' area without names

// An operand gets less room than the result, and more the longer it is; never less than a fifth, never more
// than half.
constexpr double operand_weight = 0.52;

double operand_share(Index inner, Index outer) {
  const double a = operand_weight * std::sqrt(static_cast<double>(inner));
  const double b = std::sqrt(static_cast<double>(outer));
  return std::clamp(a / (a + b), 0.22, 0.5);
}

// Whole pixels where a cell has some: lines between cells then stay sharp.
double snapped(double cell) {
  return cell >= 6.0 ? std::floor(cell) : cell;
}

// Side of a cell so that `count` of them fill `length`, at most `largest`.
double cell_side(double length, Index count, double largest) {
  if (count <= 0) return 0.0;
  return std::max(0.0, snapped(std::min(length / static_cast<double>(count), largest)));
}

double slanted_height(double text_width, double u) {
  const double angle = label_slant_degrees * std::numbers::pi / 180.0;
  return text_width * std::sin(angle) + line_height * u;
}

double slanted_overhang(double text_width) {
  return text_width * std::cos(label_slant_degrees * std::numbers::pi / 180.0);
}

// Length of strips and captions side by side.
double bars_total(const std::vector<double>& captions, double strip, double u) {
  double total = captions.empty() ? 0.0 : -bar_gap * u;
  for (const double caption : captions) total += std::max(strip, caption) + bar_gap * u;
  return total;
}

// The longest strip with which all of them fit into `width`; not shorter than the shortest that can be read.
double strip_length(const std::vector<double>& captions, double width, double u) {
  double strip = bar_width * u;
  while (strip > shortest_bar * u && bars_total(captions, strip, u) > width) strip -= 2.0 * u;
  return strip;
}

std::vector<RectF> bar_rects(const std::vector<double>& captions, RectF line, double u) {
  const double strip = strip_length(captions, line.width, u);
  // Where even short strips do not fit, the captions are cut.
  const double total = bars_total(captions, strip, u) + bar_gap * u;
  const double shrink = std::min(1.0, (line.width + bar_gap * u) / std::max(total, 1.0));
  std::vector<RectF> bars;
  double x = line.x;
  for (const double caption : captions) {
    const double pitch = (std::max(strip, caption) + bar_gap * u) * shrink;
    bars.push_back({x, line.y, std::min(strip, pitch - bar_gap * u * shrink), bar_height * u});
    x += pitch;
  }
  return bars;
}

struct Widths {
  double left_cell = 0, result_cell = 0;
};

// Where the result's numbers just do not fit and the left operand can be narrower, it is: colours say enough of it.
void make_room_for_digits(const StageShape& shape, double width, double u, Widths& widths) {
  const double needed = std::ceil(shape.digit_width);
  if (needed <= 0.0 || widths.result_cell >= needed) return;
  const double left = width - needed * static_cast<double>(shape.cols);
  const double left_cell = cell_side(left, *shape.left_cols, widths.left_cell);
  if (left_cell < narrowest_operand_cell * u) return;
  widths.result_cell = needed;
  widths.left_cell = left_cell;
}

Widths cell_widths(const StageShape& shape, double width, double u) {
  Widths widths;
  if (!shape.left_cols) {
    widths.result_cell = cell_side(width, shape.cols, widest_cell * u);
    return widths;
  }
  if (shape.cell_for_cell) {
    widths.result_cell = cell_side(width, shape.cols + *shape.left_cols, widest_cell * u);
    widths.left_cell = widths.result_cell;
    make_room_for_digits(shape, width, u, widths);
    return widths;
  }
  const double share = operand_share(*shape.left_cols, shape.cols);
  widths.left_cell = cell_side(width * share, *shape.left_cols, widest_inner_cell * u);
  widths.result_cell =
      cell_side(width - widths.left_cell * static_cast<double>(*shape.left_cols), shape.cols, widest_cell * u);
  widths.left_cell = cell_side(width - widths.result_cell * static_cast<double>(shape.cols), *shape.left_cols,
                               widest_inner_cell * u);
  make_room_for_digits(shape, width, u, widths);
  return widths;
}

// Height of the thumbnails' band over the whole width.
double band_height(const StageShape& shape, RectF area, double u) {
  const double most =
      area.height * std::min(largest_band_share, 0.28 + 0.0015 * static_cast<double>(shape.heads));
  for (double height = 60.0 * u;; height += 4.0 * u) {
    const HeadGrid grid =
        head_grid(shape.heads, {area.x, area.y, area.width, height}, u, largest_thumbnail * u);
    const bool large = grid.side >= 52.0 * u;
    const bool enough = grid.side >= smallest_band_thumbnail * u && (shape.low_heads || height >= 0.7 * most);
    if (large || enough || height >= most) return height;
  }
}

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
    // Of equal sizes the one with fewer rows.
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

StageLayout stage_layout(const StageShape& shape, RectF area, double scale) {
  const double u = scale;
  StageLayout layout;

  // Widths first: they decide whether labels have to be slanted, which decides heights.
  const double labels = shape.row_label_width > 0 ? shape.row_label_width + label_gap * u : 0.0;
  const double figures = shape.row_figures * (figure_width + figure_gap) * u;
  double gap = 0.0;
  if (shape.left_cols) {
    gap = std::clamp(area.width * 0.06, 26.0 * u, 72.0 * u);
    gap = std::max({gap, shape.above_label_width + 2 * label_gap * u, shape.sign_width + 2 * label_gap * u});
  }
  const double before = shape.left_cols ? labels : std::max(labels, shape.above_label_width + label_gap * u);
  const double width = area.width - before - gap - figures;
  Widths cells = cell_widths(shape, width, u);
  layout.slanted = shape.col_label_width + 6.0 * u > cells.result_cell && shape.col_label_width > 0;
  if (layout.slanted) {
    const double overhang = std::max(0.0, slanted_overhang(shape.col_label_width) - 0.4 * cells.result_cell);
    cells = cell_widths(shape, width - overhang, u);
  }
  layout.left_slanted =
      shape.left_col_label_width + 6.0 * u > cells.left_cell && shape.left_col_label_width > 0;

  // Under the matrices: labels, then the colour bars, beside the result's labels where they fit there.
  const double caption = line_height * u + 4.0 * u;
  const double result_foot = layout.slanted ? slanted_height(shape.col_label_width, u) : caption;
  double left_foot = 0.0;
  if (shape.left_cols)
    left_foot = layout.left_slanted ? slanted_height(shape.left_col_label_width, u) : caption;
  const double left_width = cells.left_cell * static_cast<double>(shape.left_cols.value_or(0));
  const double result_x = area.x + before + left_width + gap + figures;
  const double bars_block = shape.bar_captions.empty() ? 0.0 : bar_block_height * u;
  const double beside = result_x - area.x - 16.0 * u;
  const bool bars_beside = shape.left_cols && bars_total(shape.bar_captions, shortest_bar * u, u) <= beside;
  const double foot = bars_beside ? std::max(result_foot, left_foot + bars_block)
                                  : std::max(result_foot, left_foot) + bars_block;

  // Thumbnails go into the corner that the product leaves free; where there is none, or it is too small,
  // above it all.
  const double title = title_height_units * u;
  const double col_figures = shape.col_figures * (figure_height + 2.0) * u;
  RectF body = area;
  bool in_corner = false;
  // Where the result's numbers just do not fit and what stands above can be lower, it is.
  const auto make_room = [&](double& above, double& result, double room, double lowest) {
    const double needed = std::ceil(shape.digit_height);
    const double left_over = room - needed * static_cast<double>(shape.rows);
    const double lower = cell_side(left_over, *shape.above_rows, above);
    if (needed <= 0.0 || result >= needed || lower < lowest) return;
    result = needed;
    above = lower;
  };
  const auto heights = [&](double height) {
    struct {
      double above = 0, result = 0;
    } cell;
    const double bias = shape.bias_row ? bias_height * u + 4.0 * u : 0.0;
    const double titles = shape.above_rows ? 2 * title + 4.0 * u : title;
    const double room = height - titles - bias - foot - col_figures;
    if (!shape.above_rows) {
      cell.result = cell_side(room, shape.rows, tallest_cell * u);
    } else if (shape.cell_for_cell) {
      cell.result = cell.above = cell_side(room, shape.rows + *shape.above_rows, tallest_cell * u);
      make_room(cell.above, cell.result, room, lowest_mask_cell * u);
    } else {
      const double share = operand_share(*shape.above_rows, shape.rows);
      cell.above = cell_side(room * share, *shape.above_rows, tallest_inner_cell * u);
      cell.result =
          cell_side(room - cell.above * static_cast<double>(*shape.above_rows), shape.rows, tallest_cell * u);
      make_room(cell.above, cell.result, room, lowest_operand_cell * u);
    }
    return cell;
  };
  if (shape.heads > 0) {
    if (shape.left_cols && shape.above_rows) {
      const double above_height = title + heights(area.height).above * static_cast<double>(*shape.above_rows);
      const double corner_width = result_x - figures - shape.above_label_width - 2 * label_gap * u - area.x;
      const RectF corner{area.x, area.y, corner_width, above_height};
      const HeadGrid grid = head_grid(shape.heads, corner, u, largest_thumbnail * u);
      in_corner = grid.side >= smallest_corner_thumbnail * u;
      if (in_corner) layout.heads = grid;
    }
    if (!in_corner) {
      const double band = band_height(shape, area, u);
      layout.heads = head_grid(shape.heads, {area.x, area.y, area.width, band}, u, largest_thumbnail * u);
      const Index grid_rows = (shape.heads + layout.heads->columns - 1) / layout.heads->columns;
      const double used = layout.heads->caption.height + static_cast<double>(grid_rows) * layout.heads->pitch_y;
      body.y += used + 6.0 * u;
      body.height -= used + 6.0 * u;
    }
  }

  const auto cell_heights = heights(body.height);
  double y = body.y + title;
  const double result_width = cells.result_cell * static_cast<double>(shape.cols);
  if (shape.above_rows) {
    layout.above = {result_x, y, result_width, cell_heights.above * static_cast<double>(*shape.above_rows)};
    y += layout.above->height + 4.0 * u;
    if (shape.bias_row) {
      layout.bias = {result_x, y, result_width, bias_height * u};
      y += (bias_height + 4.0) * u;
    }
    y += title;
  } else if (shape.bias_row) {
    layout.bias = {result_x, y, result_width, bias_height * u};
    y += (bias_height + 4.0) * u;
  }
  for (int i = 0; i < shape.col_figures; ++i) {
    layout.col_figures.push_back({result_x, y, result_width, figure_height * u});
    y += (figure_height + 2.0) * u;
  }
  const double result_height = cell_heights.result * static_cast<double>(shape.rows);
  layout.result = {result_x, y, result_width, result_height};
  if (shape.left_cols) layout.left = RectF{area.x + before, y, left_width, result_height};
  for (int i = 0; i < shape.row_figures; ++i) {
    const double x = result_x - figures + i * (figure_width + figure_gap) * u;
    layout.row_figures.push_back({x, y, figure_width * u, result_height});
  }
  const double bars_y = y + result_height + (bars_beside ? left_foot : std::max(left_foot, result_foot)) +
                        (line_height + 3.0) * u;
  layout.bars = bar_rects(shape.bar_captions, {area.x, bars_y, bars_beside ? beside : area.width, 0}, u);
  return layout;
}

RectF MapGrid::map(Index i) const {
  const double column = static_cast<double>(i % columns), row = static_cast<double>(i / columns);
  return {area.x + column * pitch_x, area.y + row * pitch_y, map_width, map_height};
}

MapGrid map_grid(Index count, const StageShape& shape, RectF area, double scale) {
  const double u = scale;
  const double title = (title_height_units + note_line_units * shape.note_lines) * u;
  const double gap = (count > 16 ? 8.0 : 16.0) * u;
  const double bars_block = shape.bar_captions.empty() ? 0.0 : bar_block_height * u + 4.0 * u;
  const auto with_labels = [&](bool row_labels, bool col_labels) {
    MapGrid grid;
    const double labels = row_labels ? shape.row_label_width + label_gap * u : 0.0;
    const double foot = col_labels ? slanted_height(shape.col_label_width, u) : 4.0 * u;
    const double overhang = col_labels ? slanted_overhang(shape.col_label_width) * 0.6 : 0.0;
    grid.area = {area.x + labels, area.y + title, area.width - labels - overhang,
                 area.height - title - foot - bars_block};
    double best = 0.0;
    for (Index columns = 1; columns <= count; ++columns) {
      const double c = static_cast<double>(columns);
      const double r = std::ceil(static_cast<double>(count) / c);
      const double w = cell_side((grid.area.width - (c - 1) * gap) / c, shape.cols, widest_inner_cell * u);
      const double h =
          cell_side((grid.area.height - (r - 1) * (title + gap * 0.5)) / r, shape.rows, widest_inner_cell * u);
      // Cells up to twice as wide as high, or three times as high as wide, so that wide heads stay readable. The shorter
      // side counts: of the same area, squares are read best, and what is much higher than wide counts for nothing.
      const double cell_w = std::min(w, 2.0 * h), cell_h = std::min(h, 3.0 * w);
      const double counted_h = std::min(cell_h, 1.5 * cell_w);
      const double worth = std::min(cell_w, counted_h) * std::sqrt(cell_w * counted_h);
      if (worth > best) {
        best = worth;
        grid.columns = columns;
        grid.map_width = cell_w * static_cast<double>(shape.cols);
        grid.map_height = cell_h * static_cast<double>(shape.rows);
      }
    }
    if (grid.columns == 0) grid.columns = std::max<Index>(1, count);
    grid.pitch_x = grid.map_width + gap;
    grid.pitch_y = grid.map_height + title + gap * 0.5;
    grid.row_labels = row_labels;
    grid.col_labels = col_labels;
    return grid;
  };
  const bool has_rows = shape.row_label_width > 0, has_cols = shape.col_label_width > 0;
  MapGrid grid = with_labels(has_rows, has_cols);
  const bool rows_fit = grid.map_height >= least_named_row * u * static_cast<double>(shape.rows);
  const bool cols_fit = grid.map_width >= least_named_col * u * static_cast<double>(shape.cols);
  if ((has_rows && !rows_fit) || (has_cols && !cols_fit)) {
    grid = with_labels(has_rows && rows_fit, has_cols && cols_fit);
  }
  // Names that would take too much of the maps' room are left out.
  const MapGrid bare = with_labels(false, false);
  if (grid.map_width * grid.map_height < least_share_with_names * bare.map_width * bare.map_height)
    grid = bare;
  const Index grid_rows = (count + grid.columns - 1) / grid.columns;
  const double foot = grid.col_labels ? slanted_height(shape.col_label_width, u) : 4.0 * u;
  const double bottom =
      grid.area.y + static_cast<double>(grid_rows - 1) * grid.pitch_y + grid.map_height + foot;
  grid.bars = bar_rects(shape.bar_captions, {area.x, bottom + (line_height + 3.0) * u, area.width, 0}, u);
  return grid;
}

}  // namespace headwise
