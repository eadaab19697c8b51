#include <algorithm>
#include <cmath>
#include <limits>

#include "core/picture/axis_labels.h"
#include "core/picture/cell_text.h"
#include "core/picture/color_bar.h"
#include "core/picture/heatmap_block.h"
#include "core/picture/label_text.h"
#include "core/picture/picture.h"
#include "core/picture/picture_builder.h"

namespace headwise {
namespace {

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

PictureBuilder slot_head(const HeatmapSpec& spec, const HeatmapContents& contents, bool own_bar, double width,
                         double size, const PictureOptions& options) {
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
    slots.push_back({slot_head(spec, contents[i], !one_range, plane_pixels(spec.values.cols, cell_pixels),
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
