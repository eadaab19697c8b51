#include "app/content/paired_layout.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace headwise {
namespace {

// In units. Tuned by eye at 1280×720 and 1600×1000 with 12 tokens, 8 heads and embed_dim 128.
constexpr double side_gap = 24.0;
constexpr double stacked_gap = 10.0;
constexpr double widest_paired_cell = 64.0;
constexpr double tallest_paired_cell = 40.0;
constexpr double paired_bar_block_height = 50.0;
constexpr double paired_bar_height = 8.0;
constexpr double longest_bar = 150.0;
constexpr double narrowest_map = 32.0;
constexpr double lowest_map = 12.0;
constexpr double low_map = 90.0;  // maps lower than this replace the colour strips

struct Arrangement {
  CompareLayout layout;
  double cell = 0;  // the smallest side of a cell
  double foot = 0;  // below the lowest map: its labels
  double bottom = 0;
  bool fits = true;
};

double labels_width(const LabelledShape& shape, double u) {
  return shape.row_label_width > 0 ? shape.row_label_width + label_margin_units * u : 0.0;
}

// The widest cells with which `cols` of them and the last slanted label fit into `room`.
double cell_width(const LabelledShape& shape, double room, double u, bool& slanted) {
  const double cell = cell_side(room, shape.cols, widest_paired_cell * u);
  slanted = shape.col_label_width > 0 && shape.col_label_width + 6.0 * u > cell;
  if (!slanted) return cell;
  const double overhang = std::max(0.0, slanted_overhang(shape.col_label_width) - 0.4 * cell - side_gap * u);
  return cell_side(room - overhang, shape.cols, widest_paired_cell * u);
}

// Of the labels below a map, or of the caption of their axis.
double labels_height(const LabelledShape& shape, bool slanted, double u) {
  return slanted ? slanted_height(shape.col_label_width, u) : (caption_line_units + 4.0) * u;
}

Arrangement arrange(const std::vector<LabelledShape>& shapes, bool stacked, bool bars, RectF area, double u) {
  Arrangement made;
  made.layout.stacked = stacked;
  const auto count = static_cast<double>(shapes.size());
  const bool alike = shapes.size() == 3;
  double labels = 0, feet = 0, foot = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const double own = labels_width(shapes[i], u);
    if (stacked) labels = std::max(labels, own);
    if (!stacked && (i == 0 || !alike)) labels += own;
  }
  const double slot =
      stacked ? area.width - labels : (area.width - labels - (count - 1) * side_gap * u) / count;
  std::vector<double> widths;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ComparePlace place;
    widths.push_back(cell_width(shapes[i], slot, u, place.slanted));
    place.row_labels = stacked || !alike || i == 0;
    place.col_labels = !stacked || !alike || i + 1 == shapes.size();
    const double own = place.col_labels ? labels_height(shapes[i], place.slanted, u) : 0.0;
    feet += own;
    foot = std::max(foot, own);
    made.layout.places.push_back(place);
  }
  const double around = bars ? paired_bar_block_height * u : 0.0;
  const double high =
      stacked
          ? (area.height - count * title_height_units * u - feet - (count - 1) * stacked_gap * u - around) / count
          : area.height - title_height_units * u - foot - around;
  double x = area.x + (stacked ? labels : 0.0), y = area.y;
  made.cell = widest_paired_cell * u;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ComparePlace& place = made.layout.places[i];
    const double height = cell_side(high, shapes[i].rows, tallest_paired_cell * u);
    made.cell = std::min({made.cell, height, widths[i]});
    if (!stacked && place.row_labels) x += labels_width(shapes[i], u);
    place.map = {x, y + title_height_units * u, widths[i] * static_cast<double>(shapes[i].cols),
                 height * static_cast<double>(shapes[i].rows)};
    made.fits = made.fits && place.map.width >= narrowest_map * u && place.map.height >= lowest_map * u;
    const double own = place.col_labels ? labels_height(shapes[i], place.slanted, u) : 0.0;
    made.bottom = std::max(made.bottom, place.map.y + place.map.height + own);
    if (stacked) {
      y = place.map.y + place.map.height + own + stacked_gap * u;
    } else {
      x += slot + side_gap * u;
    }
  }
  return made;
}

// A map with few rows, or one whose width keeps it small, gains nothing from more height.
bool lowered_by_height(const Arrangement& made, const LabelledShape& shape, double u) {
  const RectF& map = made.layout.places.front().map;
  return map.height < tallest_paired_cell * u * static_cast<double>(shape.rows);
}

constexpr double pair_gap = 28.0;  // between a tensor and its gradient
constexpr double next_gap = 44.0;  // between the pairs of two operands
constexpr double lowest_result = 56.0;
constexpr double lowest_operand = 44.0;
constexpr double low_row = 10.0;  // below which column labels are dropped in favour of higher rows
constexpr double narrowest_plane = 48.0;
constexpr double result_weight = 1.25;  // of its height relative to the operands'

// Pairs side by side: their widths, and what lies below them.
struct PairRow {
  std::vector<PairPlace> pairs;
  double foot = 0;  // labels under the planes
  Index most_rows = 0;
  bool fits = true;  // wide enough

  PairRow(std::span<const LabelledShape> shapes, RectF area, double u, bool col_labels = true) {
    const auto count = static_cast<double>(shapes.size());
    const double slot = shapes.empty() ? 0.0 : (area.width - (count - 1) * next_gap * u) / count;
    double x = area.x;
    for (const LabelledShape& shape : shapes) {
      const double labels = labels_width(shape, u);
      const auto cell_in = [&](double room) { return cell_side(room / 2, shape.cols, widest_paired_cell * u); };
      double room = slot - labels - pair_gap * u;
      PairPlace place;
      place.col_labels = col_labels || shape.col_label_width <= 0;
      // Room for slanted labels is reserved even if they are dropped: columns stay below the result's.
      const bool narrow = shape.col_label_width > 0 && shape.col_label_width + 6.0 * u > cell_in(room);
      if (narrow) room -= std::max(0.0, slanted_overhang(shape.col_label_width) - 0.4 * cell_in(room));
      place.slanted = narrow && place.col_labels;
      const double width = cell_in(room) * static_cast<double>(shape.cols);
      fits = fits && width >= narrowest_plane * u;
      place.value = {x + labels, 0, width, 0};
      place.gradient = {place.value.x + width + pair_gap * u, 0, width, 0};
      foot = std::max(foot, place.col_labels ? labels_height(shape, place.slanted, u) : 4.0 * u);
      most_rows = std::max(most_rows, shape.rows);
      pairs.push_back(place);
      x += slot + next_gap * u;
    }
  }

  double tallest(double u) const { return tallest_paired_cell * u * static_cast<double>(most_rows); }
  // Everything but the planes.
  double around(bool bars, double u) const {
    return title_height_units * u + foot + (bars ? paired_bar_block_height * u : 0.0);
  }
};

void place(PairRow& row, std::span<const LabelledShape> shapes, double top, double height, bool bars,
           double u, std::vector<PairPlace>& placed) {
  for (std::size_t i = 0; i < row.pairs.size(); ++i) {
    PairPlace& pair = row.pairs[i];
    const double cell = cell_side(height, shapes[i].rows, tallest_paired_cell * u);
    for (RectF* plane : {&pair.value, &pair.gradient}) {
      plane->y = top + title_height_units * u;
      plane->height = cell * static_cast<double>(shapes[i].rows);
    }
    // Bars share one line, whatever the heights of the planes.
    const double y = top + row.around(false, u) + height + (caption_line_units + 3.0) * u;
    const auto bar = [&](const RectF& plane) {
      return RectF{plane.x, y, std::min(plane.width, longest_bar * u), bars ? paired_bar_height * u : 0.0};
    };
    pair.value_bar = bar(pair.value);
    pair.gradient_bar = bar(pair.gradient);
    placed.push_back(pair);
  }
}

}  // namespace

CompareLayout compare_layout(const std::vector<LabelledShape>& shapes, RectF area, double scale) {
  const double u = scale;
  if (shapes.empty()) return {};
  for (const bool bars : {true, false}) {
    Arrangement beside = arrange(shapes, false, bars, area, u), under = arrange(shapes, true, bars, area, u);
    if (!beside.fits && !under.fits) continue;
    Arrangement& best = !beside.fits || (under.fits && under.cell > 1.15 * beside.cell) ? under : beside;
    const RectF& map = best.layout.places.front().map;
    if (bars && map.height < low_map * u && lowered_by_height(best, shapes.front(), u)) continue;
    if (bars) {
      const RectF& first = best.layout.places.front().map;
      const double y = best.bottom + (caption_line_units + 3.0) * u;
      const double longest = longest_bar * u;
      best.layout.bar = {first.x, y, std::min(first.width, longest), paired_bar_height * u};
      if (shapes.size() == 3) {
        const RectF& last = best.layout.places.back().map;
        const double x = best.layout.stacked ? first.x + longest + 60.0 * u : last.x;
        best.layout.difference_bar = {x, y, std::min(last.width, longest), paired_bar_height * u};
      }
    }
    return std::move(best.layout);
  }
  return {};
}

GradientLayout gradient_layout(const std::vector<LabelledShape>& shapes, RectF area, double scale) {
  const double u = scale;
  GradientLayout layout;
  if (shapes.empty()) return layout;
  const std::span all(shapes);
  PairRow result(all.first(1), area, u);
  if (!result.fits) return layout;

  // Both operands below, else the first alone, else none.
  for (std::size_t count = shapes.size() - 1; count > 0; --count) {
    const std::span below = all.subspan(1, count);
    PairRow operands(below, area, u);
    const auto room_of = [&] { return area.height - result.around(true, u) - operands.around(true, u); };
    if (room_of() < low_row * u * static_cast<double>(result.most_rows + operands.most_rows))
      operands = PairRow(below, area, u, false);
    const double room = room_of();
    if (!operands.fits || room < (lowest_result + lowest_operand) * u) continue;
    const double a = result_weight * std::sqrt(static_cast<double>(result.most_rows));
    const double b = std::sqrt(static_cast<double>(operands.most_rows));
    double above = std::min(std::max(room * a / (a + b), lowest_result * u), result.tallest(u));
    const double under = std::min(room - above, operands.tallest(u));
    above = std::min(room - under, result.tallest(u));
    place(result, all.first(1), area.y, above, true, u, layout.pairs);
    place(operands, below, area.y + result.around(true, u) + above, under, true, u, layout.pairs);
    return layout;
  }
  for (const bool bars : {true, false}) {
    const double room = area.height - result.around(bars, u);
    if (room < (bars ? lowest_result : 8.0) * u) continue;
    place(result, all.first(1), area.y, std::min(room, result.tallest(u)), bars, u, layout.pairs);
    return layout;
  }
  return layout;
}

}  // namespace headwise
