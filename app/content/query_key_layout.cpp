#include "app/content/query_key_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace headwise {
namespace {

constexpr double rows_units = 250.0, least_rows_units = 190.0;  // width of the rows beside the plane
constexpr double least_plane_units = 170.0, plane_gap_units = 18.0;
constexpr double key_row_units = 22.0, least_key_row_units = 15.0, caption_units = 24.0;
constexpr double margin_x_units = 46.0, margin_y_units = 24.0;  // for labels of points at the border

struct Extent {
  double low = 0.0, high = 0.0;  // with the origin
  void add(double x) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  double length() const { return high - low; }
};

bool rects_overlap(const RectF& a, const RectF& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool rect_inside(const RectF& a, const RectF& area) {
  return a.x >= area.x && a.y >= area.y && a.x + a.width <= area.x + area.width &&
         a.y + a.height <= area.y + area.height;
}

bool crosses(const RectF& rect, const ScreenLine& line) {
  double from = 0.0, to = 1.0;
  const auto keep = [&](double start, double end, double low, double high) {
    const double step = end - start;
    if (step == 0.0) {
      if (start < low || start > high) to = from;
      return;
    }
    const double a = (low - start) / step, b = (high - start) / step;
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  };
  keep(line.first.x, line.second.x, rect.x, rect.x + rect.width);
  keep(line.first.y, line.second.y, rect.y, rect.y + rect.height);
  return from < to;
}

constexpr double head_row_units = 64.0, least_head_row_units = 15.0;
constexpr double widest_cell_units = 58.0, least_cells_units = 120.0;
constexpr double words_units = 300.0, least_words_units = 190.0, words_gap_units = 22.0;
constexpr double beside_units = 520.0;  // in less width the words go below
constexpr double words_height_units = 150.0;
constexpr double slanted_label_share = 0.72;  // of a slanted label, by its width
constexpr double label_gap_units = 12.0;      // between cells and their labels, with the end of a slanted one

}  // namespace

PlanePoint QueryKeyLayout::on_screen(PlanePoint point) const {
  return {origin_x + pixels * point.x, origin_y - pixels * point.y};
}

PlanePoint QueryKeyLayout::in_plane(PlanePoint screen) const {
  return {(screen.x - origin_x) / pixels, (origin_y - screen.y) / pixels};
}

PlanePoint QueryKeyLayout::clamped(PlanePoint point) const {
  const PlanePoint at = on_screen(point);
  const PlanePoint kept{std::clamp(at.x, plane.x, plane.x + plane.width),
                        std::clamp(at.y, plane.y, plane.y + plane.height)};
  return kept == at ? point : in_plane(kept);
}

QueryKeyLayout query_key_layout(const QueryKeyPlane& points, const RectF& area, double scale) {
  QueryKeyLayout layout;
  const double gap = plane_gap_units * scale, least_plane = least_plane_units * scale;
  if (area.width < least_plane || area.height < least_plane_units * 0.7 * scale) return layout;
  layout.fits = true;
  layout.plane = area;
  const double rows = std::min(rows_units * scale, area.width - least_plane - gap);
  if (rows >= least_rows_units * scale) {
    layout.plane.width = std::floor(area.width - rows - gap);
    const double caption = caption_units * scale, height = area.height - caption;
    const auto keys = static_cast<double>(std::max<std::size_t>(points.keys.size(), 1));
    layout.pitch = std::clamp(height / keys, least_key_row_units * scale, key_row_units * scale);
    layout.row_count = std::min(static_cast<Index>(points.keys.size()),
                                static_cast<Index>(std::floor(height / layout.pitch + 1e-9)));
    layout.rows = {area.x + area.width - rows, area.y + caption, rows,
                   layout.pitch * static_cast<double>(layout.row_count)};
  }

  Extent x, y;
  for (const auto* side : {&points.queries, &points.keys}) {
    for (const PlanePoint& point : *side) {
      x.add(point.x);
      y.add(point.y);
    }
  }
  const double margin_x = std::min(margin_x_units * scale, 0.2 * layout.plane.width);
  const double margin_y = std::min(margin_y_units * scale, 0.2 * layout.plane.height);
  const double width = layout.plane.width - 2 * margin_x, height = layout.plane.height - 2 * margin_y;
  const auto fit = [](double room, double length) {
    return length > 0.0 ? room / length : std::numeric_limits<double>::infinity();
  };
  const double pixels = std::min(fit(width, x.length()), fit(height, y.length()));
  if (std::isfinite(pixels)) layout.pixels = pixels;
  layout.origin_x = layout.plane.x + 0.5 * layout.plane.width - 0.5 * layout.pixels * (x.low + x.high);
  layout.origin_y = layout.plane.y + 0.5 * layout.plane.height + 0.5 * layout.pixels * (y.low + y.high);
  return layout;
}

std::optional<std::pair<PlanePoint, PlanePoint>> line_through(const QueryKeyLayout& layout, PlanePoint tip) {
  const double dx = tip.x, dy = -tip.y;  // on the screen
  if (dx == 0.0 && dy == 0.0) return std::nullopt;
  double from = -std::numeric_limits<double>::infinity(), to = -from;
  const auto keep = [&](double start, double step, double low, double high) {
    if (step == 0.0) return;
    const double a = (low - start) / step, b = (high - start) / step;
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  };
  keep(layout.origin_x, dx, layout.plane.x, layout.plane.x + layout.plane.width);
  keep(layout.origin_y, dy, layout.plane.y, layout.plane.y + layout.plane.height);
  return std::pair{PlanePoint{layout.origin_x + from * dx, layout.origin_y + from * dy},
                   PlanePoint{layout.origin_x + to * dx, layout.origin_y + to * dy}};
}

PlanePoint foot_on_line(PlanePoint tip, PlanePoint key) {
  const double along = dot(tip, key) / std::max(dot(tip, tip), std::numeric_limits<double>::min());
  return {along * tip.x, along * tip.y};
}

std::vector<std::optional<PlanePoint>> place_labels(std::span<const MarkLabel> labels, const RectF& area,
                                                    std::span<const ScreenLine> lines) {
  std::vector<RectF> taken;
  for (const MarkLabel& mark : labels)
    taken.push_back({mark.x - mark.reach, mark.y - mark.reach, 2 * mark.reach, 2 * mark.reach});
  std::vector<std::optional<PlanePoint>> places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const MarkLabel& mark = labels[i];
    const double right = mark.x + mark.reach + 2, left = mark.x - mark.reach - 2 - mark.width;
    const double above = mark.y - mark.reach - 1 - mark.height, below = mark.y + mark.reach + 1;
    const double middle_x = mark.x - mark.width / 2, middle_y = mark.y - mark.height / 2;
    // A mark is round: a label's corner comes nearer to its middle, and still lies beside it.
    const double corner = (1.0 - std::numbers::sqrt2 / 2) * mark.reach;
    const std::array<PlanePoint, 8> tried{{{right, middle_y},
                                           {left, middle_y},
                                           {middle_x, above},
                                           {middle_x, below},
                                           {right - corner, above + corner},
                                           {left + corner, above + corner},
                                           {right - corner, below - corner},
                                           {left + corner, below - corner}}};
    std::optional<PlanePoint> place;
    auto fewest = std::ssize(lines) + 1;
    for (const PlanePoint& at : tried) {
      const RectF rect{at.x, at.y, mark.width, mark.height};
      bool free = rect_inside(rect, area);
      for (std::size_t j = 0; free && j < taken.size(); ++j) free = j == i || !rects_overlap(rect, taken[j]);
      if (!free) continue;
      const auto crossed = std::ranges::count_if(lines, [&](const auto& line) { return crosses(rect, line); });
      if (crossed >= fewest) continue;
      place = at;
      fewest = crossed;
      if (crossed == 0) break;
    }
    if (place) taken.push_back({place->x, place->y, mark.width, mark.height});
    places.push_back(place);
  }
  return places;
}

std::vector<Index> keys_with_rows(std::span<const double> weights, Index count) {
  std::vector<Index> keys(weights.size());
  std::iota(keys.begin(), keys.end(), Index{0});
  if (count >= std::ssize(weights)) return keys;
  const auto size = [&](Index key) {
    const double weight = weights[static_cast<std::size_t>(key)];
    return std::isnan(weight) ? std::numeric_limits<double>::infinity() : weight;
  };
  std::ranges::stable_sort(keys, std::greater{}, size);
  keys.resize(static_cast<std::size_t>(std::max<Index>(count, 0)));
  std::ranges::sort(keys);
  return keys;
}

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
