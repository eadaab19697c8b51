#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/export/label_text.h"
#include "core/export/number_text.h"
#include "core/export/picture.h"
#include "core/export/picture_builder.h"
#include "core/export/plane_rule.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// The part shared by pictures of one and of many heatmaps: a plane of cells with everything attached to it.

// Font sizes in pixels. They follow from the cells and from the picture as a whole, so that a picture that is
// shown scaled down remains legible.
struct PictureType {
  double base = 12;   // title, axis names, colour bar
  double label = 12;  // labels of cells
};

struct BlockParts {
  bool row_labels = true, col_labels = true, row_axis = true, col_axis = true;
};

constexpr double most_pixels = 1e6;  // per side: far above any file, far below where layout loses whole pixels
// Ems of a label between the plane and its labels. A row label reaches at most this far below its plane, so
// row and column labels never meet.
constexpr double label_gap = 0.62;
constexpr double half_cap = cap_height / 2;

// Where the numbers of a plane stand: in the middle of each cell's painted area,
// the gap being left of it and above it.
struct DigitPlaces {
  Index rows, cols;
  int width, height, gap;

  PointF middle(Index row, Index col) const {
    const auto along = [this](Index index, Index count, int pixels) {
      return (cell_begin(index, count, pixels) + (index > 0 ? gap : 0) + cell_begin(index + 1, count, pixels)) /
             2.0;
    };
    return {along(col, cols, width), along(row, rows, height)};
  }
  double cell_width() const { return static_cast<double>(width) / static_cast<double>(cols); }
  double cell_height() const { return static_cast<double>(height) / static_cast<double>(rows); }
};

// A number in a cell that a mask blocks, on a box that covers what the plane draws there: its cross or its
// hatch. The cross stays where the number does not fit.
void add_blocked_digits(PictureBuilder& block, const DigitPlaces& places, PointF middle, TextItem text,
                        Rgba8 ground) {
  const double width = text_width(text.text, FontFace::mono, text.size) + 3.0;
  if (width > places.cell_width() + 0.01) return;
  const double cross = 0.4 * std::min(places.cell_width(), places.cell_height()) + 2.0;
  // Whole pixels inside the cell.
  const auto side = [](double wanted, double most) {
    return std::min(std::ceil(wanted), std::floor(most) - 2.0);
  };
  const double across = side(std::max(width, cross), places.cell_width()),
               down = side(std::max(text.size, cross), places.cell_height());
  block.add(BoxItem{
      {std::floor(middle.x - across / 2), std::floor(middle.y - down / 2), across + 1.0, down + 1.0}, ground});
  block.add(std::move(text));
}

void add_digits(PictureBuilder& block, const HeatmapSpec& spec, const HeatmapContents& contents, double width,
                double height) {
  const Index rows = spec.values.rows, cols = spec.values.cols;
  const auto digits =
      cell_digits(spec, contents, width / static_cast<double>(cols), height / static_cast<double>(rows));
  if (!digits) return;
  const ColorTable& table = color_table(spec.color_map, spec.theme);
  const int pixels_across = static_cast<int>(width), pixels_down = static_cast<int>(height);
  const DigitPlaces places{rows, cols, pixels_across, pixels_down,
                           plane_rule(rows, cols, pixels_across, pixels_down).gap};
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const CellKind kind = cell_kind(spec, row, col);
      const double value = spec.values.value(row, col);
      const bool blocked = kind == CellKind::blocked;
      if (!blocked && kind != CellKind::value && kind != CellKind::blocked_value) continue;
      const Rgba8 ground = blocked ? blocked_color(spec.theme) : color_at(value, spec.range, table);
      const PointF middle = places.middle(row, col);
      TextItem text{{middle.x, middle.y + half_cap * digits->size},
                    blocked ? blocked_text(spec, value) : cell_text(value, *digits),
                    FontFace::mono,
                    digits->size,
                    ink_on(ground),
                    TextAnchor::middle};
      if (kind == CellKind::value)
        block.add(std::move(text));
      else if (!text.text.empty())
        add_blocked_digits(block, places, middle, std::move(text), ground);
    }
  }
}

void add_row_labels(PictureBuilder& block, const HeatmapSpec& spec, double height, double size) {
  const double pitch = height / static_cast<double>(spec.values.rows);
  for (const AxisLabel& label : row_axis_labels(spec.row_labels, spec.values.rows, pitch, size).labels) {
    const double y = (static_cast<double>(label.index) + 0.5) * pitch + half_cap * size;
    block.add(TextItem{
        {-label_gap * size, y}, label.text, FontFace::sans, size, picture_ink(spec.theme).text, TextAnchor::end});
  }
}

void add_col_labels(PictureBuilder& block, const HeatmapSpec& spec, double width, double height, double size) {
  const double pitch = width / static_cast<double>(spec.values.cols);
  const AxisLabels labels = column_axis_labels(spec.col_labels, spec.values.cols, pitch, size);
  const double radians = labels.degrees * std::numbers::pi / 180.0;
  const double y = height + (label_gap + text_ascent * std::cos(radians)) * size;
  for (const AxisLabel& label : labels.labels) {
    // Slanted text begins with the middle of its capitals below the middle of its cell.
    const double x = (static_cast<double>(label.index) + 0.5) * pitch - half_cap * size * std::sin(radians);
    block.add(TextItem{{x, y},
                       label.text,
                       FontFace::sans,
                       size,
                       picture_ink(spec.theme).text,
                       labels.degrees == 0.0 ? TextAnchor::middle : TextAnchor::start,
                       labels.degrees});
  }
}

void add_axis_names(PictureBuilder& block, const HeatmapSpec& spec, double width, double height, double size,
                    BlockParts parts) {
  const Rgba8 dim = picture_ink(spec.theme).dim;
  const auto shortened = [&](const std::string& name, double side) {
    return shorten(name, FontFace::sans, size, std::max(side, 20 * size));
  };
  if (parts.row_axis && !spec.row_axis.empty()) {
    const double x = block.left() - (0.45 + text_descent) * size;
    block.add(TextItem{
        {x, height / 2}, shortened(spec.row_axis, height), FontFace::sans, size, dim, TextAnchor::middle, -90.0});
  }
  if (parts.col_axis && !spec.col_axis.empty()) {
    const std::string name = shortened(spec.col_axis, width);
    const bool fits = text_width(name, FontFace::sans, size) <= width;
    block.add(TextItem{{fits ? width / 2 : 0, block.bottom() + (0.45 + text_ascent) * size},
                       name,
                       FontFace::sans,
                       size,
                       dim,
                       fits ? TextAnchor::middle : TextAnchor::start});
  }
}

// `plane_side` is the shorter side, in pixels, of all the planes together. `font_size` > 0: both sizes are
// this one.
PictureType picture_type(double cell_pixels, double plane_side, double font_size) {
  if (font_size > 0.0) return {font_size, font_size};
  const double by_cell = 0.45 * cell_pixels;
  const double base = std::clamp(std::max(by_cell, plane_side / 48.0), 11.0, 96.0);
  // If a label for every cell is legible it is as large as its cell allows;
  // otherwise labels are thinned anyway.
  constexpr double least_pitch = 9.5;
  if (cell_pixels < least_pitch) return {base, base};
  return {base, std::clamp(by_cell, std::min(11.0, cell_pixels / axis_line_height), base)};
}

// The length of `cells` cells in pixels: a whole number, 0 only if there are no cells. Throws Error(usage) if
// cell_pixels is not a number above 0, or the plane is too large for any file.
double plane_pixels(Index cells, double cell_pixels) {
  const double pixels = std::round(static_cast<double>(cells) * cell_pixels);
  if (!(cell_pixels > 0.0) || !std::isfinite(cell_pixels)) {
    throw Error(ExitStatus::usage, {"picture", "the side of a cell is not a size",
                                    fmt::format("{} pixels", cell_pixels), "a number above 0", ""});
  }
  if (pixels > most_pixels) {
    throw Error(ExitStatus::usage,
                {"picture", "it is too large", fmt::format("{} cells of {} pixels", cells, cell_pixels),
                 fmt::format("at most {:.0f} pixels a side", most_pixels), "take fewer pixels a cell"});
  }
  return cells > 0 ? std::max(1.0, pixels) : 0.0;
}

// The plane with its upper left corner at 0,0, the numbers in its cells, its labels and its axis names. An
// empty matrix is replaced by a line of text.
PictureBuilder heatmap_block(const HeatmapSpec& spec, const HeatmapContents& contents, double cell_pixels,
                             PictureType type, BlockParts parts) {
  const Index rows = spec.values.rows, cols = spec.values.cols;
  PictureBuilder block;
  if (rows == 0 || cols == 0) {
    block.add(TextItem{{0, text_ascent * type.base},
                       fmt::format("no cells: {}×{}", rows, cols),
                       FontFace::sans,
                       type.base,
                       picture_ink(spec.theme).dim});
    return block;
  }
  const double width = plane_pixels(cols, cell_pixels), height = plane_pixels(rows, cell_pixels);
  block.add(PlaneItem{{0, 0, width, height}, spec});
  add_digits(block, spec, contents, width, height);
  // The one row of a vector has no index.
  const bool vector = rows == 1 && spec.row_labels.empty() && spec.row_axis.empty();
  if (parts.row_labels && !vector) add_row_labels(block, spec, height, type.label);
  if (parts.col_labels) add_col_labels(block, spec, width, height, type.label);
  add_axis_names(block, spec, width, height, type.base, parts);
  return block;
}

// What surrounds the planes of a picture: the title above, the colour bar and the legend below.

constexpr double title_scale = 1.2;       // relative to the base size
constexpr double narrowest_title = 40.0;  // ems that a title may take however narrow the heatmap is

// Above everything so far; truncated if it is far wider than the picture.
void add_title(PictureBuilder& picture, const std::string& title, Theme theme, double base) {
  const double size = title_scale * base;
  const std::string shown =
      shorten(title, FontFace::bold, size, std::max(picture.width(), narrowest_title * base));
  picture.add(TextItem{{picture.left(), picture.top() - (0.75 + text_descent) * size},
                       shown,
                       FontFace::bold,
                       size,
                       picture_ink(theme).text});
}

// Below everything so far, from x = 0: the bar, and the legend to its right if there is room, else under it.
// The bar is about `width` pixels wide, within legible limits.
void add_bar_and_legend(PictureBuilder& picture, const HeatmapSpec& spec, const HeatmapContents& contents,
                        bool with_bar, double width, double base, const PictureOptions& options = {}) {
  const double size = 0.92 * base;
  const double y = std::round(picture.bottom() + 1.2 * base);
  const double right = std::max(picture.right(), 30 * base);
  PictureBuilder bar;
  with_bar = with_bar && options.color_bar;
  if (with_bar) {
    HeatmapSpec labelled = spec;
    if (options.bar_label) labelled.range_note = *options.bar_label;
    bar = color_bar(labelled, contents, std::clamp(width, 10 * size, 16 * size), size);
  }
  picture.add(bar, {0, y});
  const double beside = bar.width() + 2.5 * size;
  PictureBuilder legend = cell_legend(spec, contents, right - beside, size);
  const bool fits = with_bar && legend.right() <= right - beside && legend.height() <= bar.height();
  if (!fits) legend = cell_legend(spec, contents, right, size);
  picture.add(legend, fits ? PointF{std::round(beside), std::round(y + bar.height() - legend.height())}
                           : PointF{0, std::round(y + (with_bar ? bar.height() + 0.6 * size : 0))});
}

bool share_labels(const std::vector<HeatmapSpec>& specs) {
  return std::all_of(specs.begin(), specs.end(), [&](const HeatmapSpec& spec) {
    const HeatmapSpec& first = specs.front();
    return spec.values.rows == first.values.rows && spec.values.cols == first.values.cols &&
           spec.row_labels == first.row_labels && spec.col_labels == first.col_labels;
  });
}

bool share_range(const std::vector<HeatmapSpec>& specs) {
  return std::all_of(specs.begin(), specs.end(), [&](const HeatmapSpec& spec) {
    return spec.range == specs.front().range && spec.color_map == specs.front().color_map &&
           spec.range_note == specs.front().range_note;
  });
}

HeatmapContents sum(const std::vector<HeatmapContents>& all) {
  HeatmapContents total;
  for (const HeatmapContents& one : all) {
    total.values += one.values;
    total.blocked += one.blocked;
    total.blocked_values += one.blocked_values;
    total.nans += one.nans;
    total.minus_infs += one.minus_infs;
    total.plus_infs += one.plus_infs;
    total.below += one.below;
    total.above += one.above;
  }
  return total;
}

// Columns that give a grid of `count` slots of this size the proportions of a slide,
// with few slots left empty.
std::size_t grid_columns(std::size_t count, double slot_width, double slot_height) {
  constexpr double slide = 1.4;  // width : height, apart from a title and a bar
  std::size_t best = 1;
  double best_badness = std::numeric_limits<double>::infinity();
  for (std::size_t cols = 1; cols <= count; ++cols) {
    const std::size_t rows = (count + cols - 1) / cols;
    const double shape = static_cast<double>(cols) * slot_width / (static_cast<double>(rows) * slot_height);
    const double left_empty = static_cast<double>(rows * cols - count) / static_cast<double>(count);
    const double badness = std::abs(std::log(shape / slide)) + 4.0 * left_empty;
    if (badness < best_badness) {
      best = cols;
      best_badness = badness;
    }
  }
  return best;
}

// A heatmap of the grid, at 0,0, below its heading: its name, and its own colour bar if it shares none.
struct Slot {
  PictureBuilder head, block;
};

PictureBuilder slot_header(const HeatmapSpec& spec, const HeatmapContents& contents, bool own_bar,
                           double width, double size, const PictureOptions& options) {
  PictureBuilder head;
  const std::string name = shorten(spec.title, FontFace::sans, size, std::max(width, 12 * size));
  head.add(TextItem{{0, text_ascent * size}, name, FontFace::sans, size, picture_ink(spec.theme).text});
  if (own_bar && options.color_bar) {
    HeatmapSpec noted = spec;
    noted.range_note = options.bar_label.value_or("");
    head.add(color_bar(noted, contents, width, 0.85 * size), {0, std::round(head.bottom() + 0.25 * size)});
  }
  return head;
}

// Columns of equal width, rows of equal height, fitted to their contents, so that nothing overlaps.
// `planes_width` is the width of a plane if the labels below it are slanted: what overhangs on the right is
// then parallel to the overhanging labels of the next column. 0 if labels count like everything else.
PictureBuilder placed(const std::vector<Slot>& slots, std::size_t columns, double planes_width, double space) {
  PictureBuilder picture;
  std::vector<double> plane_x(columns, 0.0);
  double end = 0;
  for (std::size_t col = 0; col < columns; ++col) {
    double left = 0, right = 0;
    for (std::size_t i = col; i < slots.size(); i += columns) {
      left = std::max(left, -slots[i].block.left());
      const double own = planes_width > 0 ? planes_width : slots[i].block.right();
      right = std::max({right, own, slots[i].head.right()});
    }
    plane_x[col] = col == 0 ? 0.0 : std::ceil(end + 1.6 * space + left);
    end = plane_x[col] + right;
  }
  double y = 0;
  for (std::size_t first = 0; first < slots.size(); first += columns) {
    const std::size_t last = std::min(slots.size(), first + columns);
    double above = 0, below = 0;
    for (std::size_t i = first; i < last; ++i) {
      above = std::max({above, slots[i].head.height() + 0.4 * space, -slots[i].block.top()});
      below = std::max(below, slots[i].block.bottom());
    }
    const double plane_y = std::ceil(y + above);
    for (std::size_t i = first; i < last; ++i) {
      const double x = plane_x[i - first];
      picture.add(slots[i].head, {x, std::floor(plane_y - 0.4 * space - slots[i].head.bottom())});
      picture.add(slots[i].block, {x, plane_y});
    }
    y = plane_y + below + 1.2 * space;
  }
  return picture;
}

}  // namespace

void check_picture_size(Index count, Index rows, Index cols, double cell_pixels,
                        const PictureOptions& options, bool pixels) {
  const double width = plane_pixels(cols, cell_pixels), height = plane_pixels(rows, cell_pixels);
  if (!pixels || count == 0) return;
  const double gap =
      count == 1 ? 0.0 : picture_type(cell_pixels, std::min(width, height), options.font_size).base;
  const auto all = static_cast<std::size_t>(count);
  const std::size_t columns = grid_columns(all, width + 1.6 * gap, height + 3 * gap);
  check_image_size(static_cast<double>(columns) * width,
                   static_cast<double>((all + columns - 1) / columns) * height);
}

Picture heatmap_grid_picture(const std::vector<HeatmapSpec>& specs, const std::string& title,
                             double cell_pixels, const PictureOptions& options) {
  if (specs.empty()) {
    PictureBuilder picture;
    add_title(picture, title, Theme::light, 12);
    return picture.finish(16, ground_color(Theme::light));
  }
  double width = 1, height = 1;  // of the largest plane
  Index cells = 0;
  for (const HeatmapSpec& spec : specs) {
    cells += spec.values.rows * spec.values.cols;
    width = std::max(width, plane_pixels(spec.values.cols, cell_pixels));
    height = std::max(height, plane_pixels(spec.values.rows, cell_pixels));
  }
  // Labels and names are sized by their heatmap; the shared title and bar, by the grid.
  PictureType type = picture_type(cell_pixels, std::min(width, height), options.font_size);
  double slot_width = width;
  for (const HeatmapSpec& spec : specs) {
    slot_width =
        std::max(slot_width, std::min(12.0 * type.base, text_width(spec.title, FontFace::sans, type.base)));
  }
  const std::size_t columns = grid_columns(specs.size(), slot_width + 1.6 * type.base, height + 3 * type.base);
  const std::size_t rows = (specs.size() + columns - 1) / columns;
  const double name_size = type.base;
  type.base =
      picture_type(cell_pixels,
                   std::min(slot_width * static_cast<double>(columns), height * static_cast<double>(rows)),
                   options.font_size)
          .base;

  const bool one_range = share_range(specs), one_labelling = share_labels(specs);
  std::vector<HeatmapContents> contents;
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    contents.push_back(heatmap_contents(specs[i]));
    const bool first_of_row = i % columns == 0, last_of_column = i + columns >= specs.size();
    const BlockParts parts{!one_labelling || first_of_row, !one_labelling || last_of_column, first_of_row,
                           last_of_column};
    HeatmapSpec spec = specs[i];
    spec.digits = spec.digits && cells <= most_cells_with_digits;
    slots.push_back({slot_header(spec, contents[i], !one_range, plane_pixels(spec.values.cols, cell_pixels),
                                 name_size, options),
                     heatmap_block(spec, contents[i], cell_pixels, {name_size, type.label}, parts)});
  }
  const MatrixView& values = specs.front().values;
  const bool slanted = one_labelling && values.cols > 0 &&
                       column_axis_labels(specs.front().col_labels, values.cols,
                                          width / static_cast<double>(values.cols), type.label)
                               .degrees != 0.0;
  PictureBuilder picture = placed(slots, columns, slanted ? width : 0.0, name_size);
  const Theme theme = specs.front().theme;
  if (!title.empty()) add_title(picture, title, theme, type.base);
  add_bar_and_legend(picture, specs.front(), sum(contents), one_range && cells > 0, picture.width() / 3,
                     type.base, options);
  return picture.finish(std::round(1.3 * type.base), ground_color(theme));
}

Picture heatmap_picture(const HeatmapSpec& spec, double cell_pixels, const PictureOptions& options) {
  const double width = plane_pixels(spec.values.cols, cell_pixels),
               height = plane_pixels(spec.values.rows, cell_pixels);
  const PictureType type = picture_type(cell_pixels, std::min(width, height), options.font_size);
  const HeatmapContents contents = heatmap_contents(spec);
  PictureBuilder picture = heatmap_block(spec, contents, cell_pixels, type, {});
  if (!spec.title.empty()) add_title(picture, spec.title, spec.theme, type.base);
  if (width > 0 && height > 0) add_bar_and_legend(picture, spec, contents, true, width, type.base, options);
  return picture.finish(std::round(1.3 * type.base), ground_color(spec.theme));
}

}  // namespace headwise
