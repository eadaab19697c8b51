#include "app/content/stage_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headwise {
namespace {

// In units.
constexpr double head_number_height = 16.0;  // also holds the lower edge of the frame
constexpr double head_caption_height = 20.0;
constexpr double between_names = 7.0;
constexpr double least_share_beside_names = 0.8;  // of a thumbnail's side

// `under`: height of the lines under each thumbnail.
HeadGrid sized_grid(Index heads, RectF area, double scale, double largest, double under) {
  HeadGrid grid;
  grid.caption = {area.x, area.y, area.width, head_caption_height * scale};
  area.y += grid.caption.height;
  area.height -= grid.caption.height;
  grid.area = area;
  const double gap = (heads > 16 ? 5.0 : 9.0) * scale;
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

// In units. Tuned by eye at 1280×720 and 1600×1000 with 12 tokens, 8 heads and embed_dim 128.
constexpr double presentation_line_height = 20.0;
constexpr double widest_cell = 84.0;
constexpr double tallest_cell = 58.0;
constexpr double widest_inner_cell = 52.0;
constexpr double tallest_inner_cell = 34.0;
constexpr double figure_width = 44.0;
constexpr double figure_gap = 6.0;
constexpr double figure_height = 15.0;  // of a row of them
constexpr double sink_width = 34.0, sink_row_gap = 4.0;
constexpr double narrowest_operand_cell = 7.0, lowest_operand_cell = 4.0;  // so that the result shows numbers
constexpr double lowest_mask_cell = 5.0;
constexpr double bias_height = 12.0;
constexpr double longest_strip = 150.0;
constexpr double bar_height = 8.0;
constexpr double shortest_bar = 96.0;
constexpr double bar_gap = 30.0;
constexpr double bar_block_height = 44.0;
constexpr double largest_thumbnail = 64.0;
constexpr double smallest_corner_thumbnail = 28.0;
constexpr double smallest_band_thumbnail = 22.0;
constexpr double largest_band_share = 0.44;

// For a map in a grid: from this size on, at least every third row and every fourth column has room for its
// name.
constexpr double least_named_row = 4.0, least_named_col = 4.5;
constexpr double least_share_with_names = 0.5;  // of the maps' area when drawn without names

// An operand gets less room than the result, and more the longer it is; at least a fifth, at most half.
constexpr double operand_weight = 0.52;

double operand_share(Index inner, Index outer) {
  const double a = operand_weight * std::sqrt(static_cast<double>(inner));
  const double b = std::sqrt(static_cast<double>(outer));
  return std::clamp(a / (a + b), 0.22, 0.5);
}

double widest(const StageShape& shape, double u) {
  return (shape.presentation ? 2.0 : 1.0) * widest_cell * u;
}

double tallest(const StageShape& shape, double u) {
  return (shape.presentation ? 2.0 : 1.0) * tallest_cell * u;
}

// Of the labels below a grid of maps.
double foot_height(const StageShape& shape, bool labels, double u) {
  if (!labels) return 4.0 * u;
  return shape.upright_labels ? shape.col_label_width + 8.0 * u : slanted_height(shape.col_label_width, u);
}

// Length of strips and captions side by side.
double bars_total(const std::vector<double>& captions, double strip, double u) {
  double total = captions.empty() ? 0.0 : -bar_gap * u;
  for (const double caption : captions) total += std::max(strip, caption) + bar_gap * u;
  return total;
}

// The longest strip with which all of them fit into `width`; at least the shortest legible one.
double strip_length(const std::vector<double>& captions, double width, double u) {
  double strip = longest_strip * u;
  while (strip > shortest_bar * u && bars_total(captions, strip, u) > width) strip -= 2.0 * u;
  return strip;
}

std::vector<RectF> bar_rects(const std::vector<double>& captions, RectF line, double u) {
  const double strip = strip_length(captions, line.width, u);
  // Where even short strips do not fit, the captions are cut.
  const double shrink = std::min(1.0, line.width / std::max(bars_total(captions, strip, u), 1.0));
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

// If the result's numbers just fail to fit and the left operand can be narrower, it is made so:
// its colours say enough.
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
    widths.result_cell = cell_side(width, shape.cols, widest(shape, u));
    return widths;
  }
  if (shape.cell_for_cell) {
    widths.result_cell = cell_side(width, shape.cols + *shape.left_cols, widest(shape, u));
    widths.left_cell = widths.result_cell;
    make_room_for_digits(shape, width, u, widths);
    return widths;
  }
  const double share = operand_share(*shape.left_cols, shape.cols);
  widths.left_cell = cell_side(width * share, *shape.left_cols, widest_inner_cell * u);
  widths.result_cell = cell_side(width - widths.left_cell * static_cast<double>(*shape.left_cols), shape.cols,
                                 widest(shape, u));
  widths.left_cell = cell_side(width - widths.result_cell * static_cast<double>(shape.cols), *shape.left_cols,
                               widest_inner_cell * u);
  make_room_for_digits(shape, width, u, widths);
  return widths;
}

// Horizontal positions of the matrices. They decide whether labels must be slanted, which decides heights.
struct Columns {
  Widths cells;
  bool slanted = false, left_slanted = false;
  double left_x = 0, left_width = 0;
  double figures = 0;  // width of the figures and the sink's cells left of the result
  double result_x = 0, result_width = 0;
};

Columns columns_of(const StageShape& shape, const RectF& area, double u) {
  Columns columns;
  const double labels = shape.row_label_width > 0 ? shape.row_label_width + label_margin_units * u : 0.0;
  columns.figures = shape.row_figures * (figure_width + figure_gap) * u;
  if (shape.sink_column) columns.figures += (sink_width + figure_gap) * u;
  double gap = 0.0;
  if (shape.left_cols) {
    gap = std::clamp(area.width * 0.06, 26.0 * u, 72.0 * u);
    gap = std::max({gap, shape.above_label_width + 2 * label_margin_units * u,
                    shape.sign_width + 2 * label_margin_units * u});
  }
  const double before =
      shape.left_cols ? labels : std::max(labels, shape.above_label_width + label_margin_units * u);
  const double width = area.width - before - gap - columns.figures;
  Widths& cells = columns.cells;
  cells = cell_widths(shape, width, u);
  columns.slanted = shape.col_label_width + 6.0 * u > cells.result_cell && shape.col_label_width > 0;
  if (columns.slanted) {
    const double overhang = std::max(0.0, slanted_overhang(shape.col_label_width) - 0.4 * cells.result_cell);
    cells = cell_widths(shape, width - overhang, u);
  }
  columns.left_slanted =
      shape.left_col_label_width + 6.0 * u > cells.left_cell && shape.left_col_label_width > 0;
  columns.left_x = area.x + before;
  columns.left_width = cells.left_cell * static_cast<double>(shape.left_cols.value_or(0));
  columns.result_x = columns.left_x + columns.left_width + gap + columns.figures;
  columns.result_width = cells.result_cell * static_cast<double>(shape.cols);
  return columns;
}

// Below the matrices: labels, then the colour bars, next to the result's labels if they fit there.
struct Foot {
  double height = 0;
  double labels = 0;      // height of the labels above the bars
  double bars_width = 0;  // room for the bars
};

Foot foot_of(const StageShape& shape, const RectF& area, const Columns& columns, double u) {
  const double caption = (shape.presentation ? presentation_line_height : caption_line_units) * u + 4.0 * u;
  const double result = columns.slanted ? slanted_height(shape.col_label_width, u) : caption;
  double left = 0.0;
  if (shape.left_cols) left = columns.left_slanted ? slanted_height(shape.left_col_label_width, u) : caption;
  const double bars_block = shape.bar_captions.empty() ? 0.0 : bar_block_height * u;
  const double beside = columns.result_x - area.x - 16.0 * u;
  const double bars_beside = beside - shape.legend_width;
  if (shape.left_cols && bars_total(shape.bar_captions, shortest_bar * u, u) <= bars_beside)
    return {std::max(result, left + bars_block), left, bars_beside};
  const double labels = std::max(result, left);
  return {labels + bars_block, labels, area.width};
}

struct Heights {
  double above_cell = 0, result_cell = 0;
};

// If the result's numbers just fail to fit and the operand above can be lower, it is made so.
void make_room_for_digits(const StageShape& shape, double room, double lowest, Heights& heights) {
  const double needed = std::ceil(shape.digit_height);
  const double left_over = room - needed * static_cast<double>(shape.rows);
  const double lower = cell_side(left_over, *shape.above_rows, heights.above_cell);
  if (needed <= 0.0 || heights.result_cell >= needed || lower < lowest) return;
  heights = {lower, needed};
}

// Within a height that holds matrices, titles and foot, but no band of thumbnails.
Heights cell_heights(const StageShape& shape, double height, double foot, double u) {
  const double title = title_height_units * u;
  const double bias = shape.bias_row ? bias_height * u + 4.0 * u : 0.0;
  const double titles = shape.above_rows ? 2 * title + 4.0 * u : title;
  const double sink = shape.sink_row ? figure_height + sink_row_gap : 0.0;
  const double col_figures = (shape.col_figures * (figure_height + 2.0) + sink) * u;
  const double room = height - titles - bias - foot - col_figures;
  Heights cells;
  if (!shape.above_rows) {
    cells.result_cell = cell_side(room, shape.rows, tallest(shape, u));
  } else if (shape.cell_for_cell) {
    cells.result_cell = cells.above_cell = cell_side(room, shape.rows + *shape.above_rows, tallest(shape, u));
    make_room_for_digits(shape, room, lowest_mask_cell * u, cells);
  } else {
    const double share = operand_share(*shape.above_rows, shape.rows);
    cells.above_cell = cell_side(room * share, *shape.above_rows, tallest_inner_cell * u);
    cells.result_cell = cell_side(room - cells.above_cell * static_cast<double>(*shape.above_rows),
                                  shape.rows, tallest(shape, u));
    make_room_for_digits(shape, room, lowest_operand_cell * u, cells);
  }
  return cells;
}

// Height of the thumbnails' band over the whole width; a line higher for each row of names, where those fit.
double band_height(const StageShape& shape, RectF area, double u) {
  const double most =
      area.height * std::min(largest_band_share, 0.28 + 0.0015 * static_cast<double>(shape.heads));
  const auto grid_of = [&](double height, const std::vector<double>& names) {
    return head_grid(shape.heads, {area.x, area.y, area.width, height}, u, largest_thumbnail * u, names);
  };
  double height = 60.0 * u;
  for (;; height += 4.0 * u) {
    const HeadGrid grid = grid_of(height, {});
    const bool large = grid.side >= 52.0 * u;
    const bool enough = grid.side >= smallest_band_thumbnail * u && (shape.low_heads || height >= 0.7 * most);
    if (large || enough || height >= most) break;
  }
  const HeadGrid plain = grid_of(height, {});
  const auto rows = static_cast<double>((shape.heads + plain.columns - 1) / plain.columns);
  const double named = height + rows * head_name_units * u;
  return grid_of(named, shape.head_names).name_form ? named : height;
}

// Thumbnails in the corner that the product leaves free; null if there is none, or it is too small.
std::optional<HeadGrid> heads_in_corner(const StageShape& shape, const RectF& area, const Columns& columns,
                                        double foot, double u) {
  if (!shape.left_cols || !shape.above_rows) return std::nullopt;
  const double above = cell_heights(shape, area.height, foot, u).above_cell;
  const RectF corner{
      area.x, area.y,
      columns.result_x - columns.figures - shape.above_label_width - 2 * label_margin_units * u - area.x,
      title_height_units * u + above * static_cast<double>(*shape.above_rows)};
  const HeadGrid grid = head_grid(shape.heads, corner, u, largest_thumbnail * u, shape.head_names);
  if (grid.side < smallest_corner_thumbnail * u) return std::nullopt;
  return grid;
}

// Thumbnails above everything; `area` shrinks by their height.
HeadGrid heads_in_band(const StageShape& shape, RectF& area, double u) {
  const double band = band_height(shape, area, u);
  HeadGrid grid =
      head_grid(shape.heads, {area.x, area.y, area.width, band}, u, largest_thumbnail * u, shape.head_names);
  const Index rows = (shape.heads + grid.columns - 1) / grid.columns;
  const double used = grid.caption.height + static_cast<double>(rows) * grid.pitch_y;
  area.y += used + 6.0 * u;
  area.height -= used + 6.0 * u;
  return grid;
}

// The matrices, from the top down.
void place_matrices(const StageShape& shape, const Columns& columns, const Heights& cells, double y, double u,
                    StageLayout& layout) {
  const double title = title_height_units * u, x = columns.result_x, width = columns.result_width;
  y += title;
  if (shape.above_rows) {
    layout.above = {x, y, width, cells.above_cell * static_cast<double>(*shape.above_rows)};
    y += layout.above->height + 4.0 * u;
  }
  if (shape.bias_row) {
    layout.bias = {x, y, width, bias_height * u};
    y += (bias_height + 4.0) * u;
  }
  if (shape.above_rows) y += title;
  for (int i = 0; i < shape.col_figures; ++i) {
    layout.col_figures.push_back({x, y, width, figure_height * u});
    y += (figure_height + 2.0) * u;
  }
  if (shape.sink_row) {
    layout.sink = {x, y, width, figure_height * u};
    y += (figure_height + sink_row_gap) * u;
  }
  const double height = cells.result_cell * static_cast<double>(shape.rows);
  layout.result = {x, y, width, height};
  if (shape.sink_column) layout.sink = {x - (sink_width + figure_gap) * u, y, sink_width * u, height};
  if (shape.left_cols) layout.left = RectF{columns.left_x, y, columns.left_width, height};
  for (int i = 0; i < shape.row_figures; ++i)
    layout.row_figures.push_back(
        {x - columns.figures + i * (figure_width + figure_gap) * u, y, figure_width * u, height});
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

double cell_side(double length, Index count, double largest) {
  if (count <= 0) return 0.0;
  const double side = std::min(length / static_cast<double>(count), largest);
  return std::max(0.0, side >= 6.0 ? std::floor(side) : side);
}

double slanted_height(double text_width, double u) {
  const double angle = label_slant_degrees * std::numbers::pi / 180.0;
  return text_width * std::sin(angle) + caption_line_units * u;
}

double slanted_overhang(double text_width) {
  return text_width * std::cos(label_slant_degrees * std::numbers::pi / 180.0);
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

StageLayout stage_layout(const StageShape& shape, RectF area, double scale) {
  const double u = scale;
  StageLayout layout;
  const Columns columns = columns_of(shape, area, u);
  const Foot foot = foot_of(shape, area, columns, u);
  RectF body = area;
  if (shape.heads > 0) {
    layout.heads = heads_in_corner(shape, area, columns, foot.height, u);
    if (!layout.heads) layout.heads = heads_in_band(shape, body, u);
  }
  place_matrices(shape, columns, cell_heights(shape, body.height, foot.height, u), body.y, u, layout);
  layout.slanted = columns.slanted;
  layout.left_slanted = columns.left_slanted;
  const double bars_y = layout.result.y + layout.result.height + foot.labels + (caption_line_units + 3.0) * u;
  layout.bars = bar_rects(shape.bar_captions, {area.x, bars_y, foot.bars_width, 0}, u);
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
    const double labels = row_labels ? shape.row_label_width + label_margin_units * u : 0.0;
    const double foot = foot_height(shape, col_labels, u);
    const double overhang =
        col_labels && !shape.upright_labels ? slanted_overhang(shape.col_label_width) * 0.6 : 0.0;
    grid.area = {area.x + labels, area.y + title, area.width - labels - overhang,
                 area.height - title - foot - bars_block};
    double best = 0.0;
    for (Index columns = 1; columns <= count; ++columns) {
      const double c = static_cast<double>(columns);
      const double r = std::ceil(static_cast<double>(count) / c);
      const double w = cell_side((grid.area.width - (c - 1) * gap) / c, shape.cols, widest_inner_cell * u);
      const double h =
          cell_side((grid.area.height - (r - 1) * (title + gap * 0.5)) / r, shape.rows, widest_inner_cell * u);
      // Cells up to twice as wide as high, or three times as high as wide, so that wide heads stay readable.
      // The shorter side counts: at equal area squares are the most readable,
      // and excess height counts for nothing.
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
  if ((has_rows && !rows_fit) || (has_cols && !cols_fit))
    grid = with_labels(has_rows && rows_fit, has_cols && cols_fit);
  // Names that would take too much of the maps' space are left out.
  const MapGrid bare = with_labels(false, false);
  if (grid.map_width * grid.map_height < least_share_with_names * bare.map_width * bare.map_height)
    grid = bare;
  const Index grid_rows = (count + grid.columns - 1) / grid.columns;
  const double foot = foot_height(shape, grid.col_labels, u);
  const double bottom =
      grid.area.y + static_cast<double>(grid_rows - 1) * grid.pitch_y + grid.map_height + foot;
  grid.bars =
      bar_rects(shape.bar_captions, {area.x, bottom + (caption_line_units + 3.0) * u, area.width, 0}, u);
  return grid;
}

}  // namespace headwise
