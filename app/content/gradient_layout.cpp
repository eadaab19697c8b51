#include "app/content/gradient_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace headwise {
namespace {

// In units. Tuned by eye at 1280×720 and 1600×1000 with 12 tokens, 8 heads and embed_dim 128.
constexpr double line_height = 15.0;
constexpr double label_gap = 8.0;
constexpr double pair_gap = 28.0;  // between a tensor and its gradient
constexpr double next_gap = 44.0;  // between the pairs of two operands
constexpr double widest_cell = 64.0;
constexpr double tallest_cell = 40.0;
constexpr double longest_bar = 150.0;
constexpr double bar_height = 8.0;
constexpr double bar_block_height = 50.0;
constexpr double lowest_result = 56.0;
constexpr double lowest_operand = 44.0;
constexpr double low_row = 10.0;  // below which column labels are dropped in favour of higher rows
constexpr double narrowest_plane = 48.0;
constexpr double result_weight = 1.25;  // of its height relative to the operands'

const double slant = label_slant_degrees * std::numbers::pi / 180.0;

double cell_side(double length, Index count, double largest) {
  const double side = std::min(length / static_cast<double>(count), largest);
  return std::max(0.0, side >= 6.0 ? std::floor(side) : side);
}

// Pairs side by side: their widths, and what lies below them.
struct Row {
  std::vector<PairPlace> pairs;
  double foot = 0;  // labels under the planes
  Index most_rows = 0;
  bool fits = true;  // wide enough

  Row(std::span<const PairShape> shapes, RectF area, double u, bool col_labels = true) {
    const auto count = static_cast<double>(shapes.size());
    const double slot = shapes.empty() ? 0.0 : (area.width - (count - 1) * next_gap * u) / count;
    double x = area.x;
    for (const PairShape& shape : shapes) {
      const double labels = shape.row_label_width > 0 ? shape.row_label_width + label_gap * u : 0.0;
      const auto cell_in = [&](double room) { return cell_side(room / 2, shape.cols, widest_cell * u); };
      double room = slot - labels - pair_gap * u;
      PairPlace place;
      place.col_labels = col_labels || shape.col_label_width <= 0;
      // Room for slanted labels is reserved even if they are dropped: columns stay below the result's.
      const bool narrow = shape.col_label_width > 0 && shape.col_label_width + 6.0 * u > cell_in(room);
      if (narrow) room -= std::max(0.0, shape.col_label_width * std::cos(slant) - 0.4 * cell_in(room));
      place.slanted = narrow && place.col_labels;
      const double width = cell_in(room) * static_cast<double>(shape.cols);
      fits = fits && width >= narrowest_plane * u;
      place.value = {x + labels, 0, width, 0};
      place.gradient = {place.value.x + width + pair_gap * u, 0, width, 0};
      foot = std::max(foot, place.slanted      ? shape.col_label_width * std::sin(slant) + line_height * u
                            : place.col_labels ? (line_height + 4.0) * u
                                               : 4.0 * u);
      most_rows = std::max(most_rows, shape.rows);
      pairs.push_back(place);
      x += slot + next_gap * u;
    }
  }

  double tallest(double u) const { return tallest_cell * u * static_cast<double>(most_rows); }
  // Everything but the planes.
  double around(bool bars, double u) const {
    return title_height_units * u + foot + (bars ? bar_block_height * u : 0.0);
  }
};

void place(Row& row, std::span<const PairShape> shapes, double top, double height, bool bars, double u,
           std::vector<PairPlace>& placed) {
  for (std::size_t i = 0; i < row.pairs.size(); ++i) {
    PairPlace& pair = row.pairs[i];
    const double cell = cell_side(height, shapes[i].rows, tallest_cell * u);
    for (RectF* plane : {&pair.value, &pair.gradient}) {
      plane->y = top + title_height_units * u;
      plane->height = cell * static_cast<double>(shapes[i].rows);
    }
    // Bars share one line, whatever the heights of the planes.
    const double y = top + row.around(false, u) + height + (line_height + 3.0) * u;
    const auto bar = [&](const RectF& plane) {
      return RectF{plane.x, y, std::min(plane.width, longest_bar * u), bars ? bar_height * u : 0.0};
    };
    pair.value_bar = bar(pair.value);
    pair.gradient_bar = bar(pair.gradient);
    placed.push_back(pair);
  }
}

}  // namespace

GradientLayout gradient_layout(const std::vector<PairShape>& shapes, RectF area, double scale) {
  const double u = scale;
  GradientLayout layout;
  if (shapes.empty()) return layout;
  const std::span all(shapes);
  Row result(all.first(1), area, u);
  if (!result.fits) return layout;

  // Both operands below, else the first alone, else none.
  for (std::size_t count = shapes.size() - 1; count > 0; --count) {
    const std::span below = all.subspan(1, count);
    Row operands(below, area, u);
    const auto room_of = [&] { return area.height - result.around(true, u) - operands.around(true, u); };
    if (room_of() < low_row * u * static_cast<double>(result.most_rows + operands.most_rows))
      operands = Row(below, area, u, false);
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
