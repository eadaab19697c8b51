#include "core/picture/heatmap_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/picture/axis_labels.h"
#include "core/picture/cell_text.h"
#include "core/picture/label_text.h"
#include "core/picture/plane_rule.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

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

}  // namespace

PictureType picture_type(double cell_pixels, double plane_side, double font_size) {
  if (font_size > 0.0) return {font_size, font_size};
  const double by_cell = 0.45 * cell_pixels;
  const double base = std::clamp(std::max(by_cell, plane_side / 48.0), 11.0, 96.0);
  // If a label for every cell is legible it is as large as its cell allows;
  // otherwise labels are thinned anyway.
  constexpr double least_pitch = 9.5;
  if (cell_pixels < least_pitch) return {base, base};
  return {base, std::clamp(by_cell, std::min(11.0, cell_pixels / line_height), base)};
}

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

}  // namespace headwise
