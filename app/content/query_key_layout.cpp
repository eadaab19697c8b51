#include "app/content/query_key_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

std::vector<std::optional<PlanePoint>> place_labels(std::span<const MarkLabel> labels, const RectF& area) {
  std::vector<RectF> taken;
  for (const MarkLabel& mark : labels)
    taken.push_back({mark.x - mark.reach, mark.y - mark.reach, 2 * mark.reach, 2 * mark.reach});
  std::vector<std::optional<PlanePoint>> places;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const MarkLabel& mark = labels[i];
    const double right = mark.x + mark.reach + 2, left = mark.x - mark.reach - 2 - mark.width;
    const double above = mark.y - mark.reach - 1 - mark.height, below = mark.y + mark.reach + 1;
    const double middle_x = mark.x - mark.width / 2, middle_y = mark.y - mark.height / 2;
    const std::array<PlanePoint, 8> tried{{{right, middle_y},
                                           {left, middle_y},
                                           {middle_x, above},
                                           {middle_x, below},
                                           {right - mark.reach, above + mark.reach},
                                           {left + mark.reach, above + mark.reach},
                                           {right - mark.reach, below - mark.reach},
                                           {left + mark.reach, below - mark.reach}}};
    std::optional<PlanePoint> place;
    for (const PlanePoint& at : tried) {
      const RectF rect{at.x, at.y, mark.width, mark.height};
      bool free = rect_inside(rect, area);
      for (std::size_t j = 0; free && j < taken.size(); ++j) free = j == i || !rects_overlap(rect, taken[j]);
      if (!free) continue;
      place = at;
      taken.push_back(rect);
      break;
    }
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

}  // namespace headwise
