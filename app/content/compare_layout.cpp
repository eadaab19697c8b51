#include "app/content/compare_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headwise {
namespace {

// In units. Tuned by eye at 1280×720 and 1600×1000 with 12 tokens, 8 heads and embed_dim 128.
constexpr double line_height = 15.0;
constexpr double label_gap = 8.0;
constexpr double map_gap = 24.0;
constexpr double stacked_gap = 10.0;
constexpr double widest_cell = 64.0;
constexpr double tallest_cell = 40.0;
constexpr double bar_block_height = 50.0;
constexpr double bar_height = 8.0;
constexpr double longest_bar = 150.0;
constexpr double narrowest_map = 32.0;
constexpr double lowest_map = 12.0;
constexpr double low_map = 90.0;  // maps lower than this replace the colour strips

const double slant = label_slant_degrees * std::numbers::pi / 180.0;

double cell_side(double length, Index count, double largest) {
  const double side = std::min(length / static_cast<double>(count), largest);
  return std::max(0.0, side >= 6.0 ? std::floor(side) : side);
}

struct Arrangement {
  CompareLayout layout;
  double cell = 0;  // the smallest side of a cell
  double foot = 0;  // below the lowest map: its labels
  double bottom = 0;
  bool fits = true;
};

double labels_width(const CompareShape& shape, double u) {
  return shape.row_label_width > 0 ? shape.row_label_width + label_gap * u : 0.0;
}

// The widest cells with which `cols` of them and the last slanted label fit into `room`.
double cell_width(const CompareShape& shape, double room, double u, bool& slanted) {
  const double cell = cell_side(room, shape.cols, widest_cell * u);
  slanted = shape.col_label_width > 0 && shape.col_label_width + 6.0 * u > cell;
  if (!slanted) return cell;
  const double overhang = std::max(0.0, shape.col_label_width * std::cos(slant) - 0.4 * cell - map_gap * u);
  return cell_side(room - overhang, shape.cols, widest_cell * u);
}

double foot_height(const CompareShape& shape, bool slanted, double u) {
  if (shape.col_label_width <= 0) return (line_height + 4.0) * u;  // the caption of the axis
  return slanted ? shape.col_label_width * std::sin(slant) + line_height * u : (line_height + 4.0) * u;
}

Arrangement arrange(const std::vector<CompareShape>& shapes, bool stacked, bool bars, RectF area, double u) {
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
  const double slot = stacked ? area.width - labels : (area.width - labels - (count - 1) * map_gap * u) / count;
  std::vector<double> widths;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ComparePlace place;
    widths.push_back(cell_width(shapes[i], slot, u, place.slanted));
    place.row_labels = stacked || !alike || i == 0;
    place.col_labels = !stacked || !alike || i + 1 == shapes.size();
    const double own = place.col_labels ? foot_height(shapes[i], place.slanted, u) : 0.0;
    feet += own;
    foot = std::max(foot, own);
    made.layout.places.push_back(place);
  }
  const double around = bars ? bar_block_height * u : 0.0;
  const double high =
      stacked
          ? (area.height - count * title_height_units * u - feet - (count - 1) * stacked_gap * u - around) / count
          : area.height - title_height_units * u - foot - around;
  double x = area.x + (stacked ? labels : 0.0), y = area.y;
  made.cell = widest_cell * u;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ComparePlace& place = made.layout.places[i];
    const double height = cell_side(high, shapes[i].rows, tallest_cell * u);
    made.cell = std::min({made.cell, height, widths[i]});
    if (!stacked && place.row_labels) x += labels_width(shapes[i], u);
    place.map = {x, y + title_height_units * u, widths[i] * static_cast<double>(shapes[i].cols),
                 height * static_cast<double>(shapes[i].rows)};
    made.fits = made.fits && place.map.width >= narrowest_map * u && place.map.height >= lowest_map * u;
    const double own = place.col_labels ? foot_height(shapes[i], place.slanted, u) : 0.0;
    made.bottom = std::max(made.bottom, place.map.y + place.map.height + own);
    if (stacked) {
      y = place.map.y + place.map.height + own + stacked_gap * u;
    } else {
      x += slot + map_gap * u;
    }
  }
  return made;
}

// A map with few rows, or one whose width keeps it small, gains nothing from more height.
bool lowered_by_height(const Arrangement& made, const CompareShape& shape, double u) {
  const RectF& map = made.layout.places.front().map;
  return map.height < tallest_cell * u * static_cast<double>(shape.rows);
}

}  // namespace

CompareLayout compare_layout(const std::vector<CompareShape>& shapes, RectF area, double scale) {
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
      const double y = best.bottom + (line_height + 3.0) * u;
      const double longest = longest_bar * u;
      best.layout.bar = {first.x, y, std::min(first.width, longest), bar_height * u};
      if (shapes.size() == 3) {
        const RectF& last = best.layout.places.back().map;
        const double x = best.layout.stacked ? first.x + longest + 60.0 * u : last.x;
        best.layout.difference_bar = {x, y, std::min(last.width, longest), bar_height * u};
      }
    }
    return std::move(best.layout);
  }
  return {};
}

}  // namespace headwise
