#include "app/content/training_layout.h"

#include <algorithm>
#include <cmath>

namespace headwise {
namespace {

// Design units
constexpr double row = 30.0, sentence_end = 5.0, sentence_line = 15.0, gap = 10.0, timeline_height = 46.0,
                 readout_height = 20.0;
constexpr double least_maps = 120.0, least_plot = 82.0, most_plot = 300.0;
// Of what plot and maps have together; in a low window the maps, which are to be read, need more of it.
constexpr double plot_share = 0.38, low_plot_share = 0.28, low_until = 380.0;
constexpr double plot_width = 0.56;  // of the width
constexpr double map_gap = 8.0, map_name = 18.0, least_side = 34.0;
// Of maps that give way to the lines of the heads.
constexpr double legible_row = 61.0 + map_name + 0.5 * map_gap;
constexpr double maps_title = 20.0, example_line = 16.0, three_lines_from = 300.0, two_lines_from = 230.0;
constexpr double between_runs = 24.0;

}  // namespace

RectF training_run_area(const RectF& maps, Index run, Index runs, double scale) {
  const double gap = between_runs * scale;
  const double width = (maps.width - gap * static_cast<double>(runs - 1)) / static_cast<double>(runs);
  return {maps.x + static_cast<double>(run) * (width + gap), maps.y, width, maps.height};
}

std::size_t training_example_lines(double maps_height, double scale) {
  return maps_height > three_lines_from * scale ? 3 : maps_height > two_lines_from * scale ? 2 : 1;
}

HabitGrid habit_grid(Index layers, Index heads) {
  const Index columns = std::min<Index>(2, layers);  // two layers stand side by side
  return {columns, (layers + columns - 1) / columns * heads};
}

TrainingLayout training_layout(const RectF& area, double scale, const TrainingParts& parts) {
  TrainingLayout layout;
  double y = area.y;
  const auto take = [&](double height) {
    const RectF taken{area.x, y, area.width, height};
    y += height;
    return taken;
  };
  layout.choices = take(row * scale);
  layout.sentence = take((sentence_end + sentence_line * static_cast<double>(parts.sentence_lines)) * scale);
  const double fixed = (gap + readout_height + row + timeline_height) * scale;
  const double left = std::max((least_maps + least_plot) * scale, area.y + area.height - y - fixed);
  const double share = left < low_until * scale ? low_plot_share : plot_share;
  double plot = std::clamp(share * left, least_plot * scale, most_plot * scale);
  const double wanted = std::min(parts.beside, most_plot * scale);
  const double legible = (maps_title + static_cast<double>(parts.layers) * legible_row) * scale;
  plot = std::max(plot, std::min(wanted, left - legible));
  if (parts.maps) {
    RectF maps = training_run_area({area.x, 0, area.width, left - plot}, 0, parts.runs, scale);
    const auto lines = parts.runs > 1 ? 1 : training_example_lines(maps.height, scale);
    maps.height -= (maps_title + example_line * static_cast<double>(lines - 1)) * scale;
    const TrainingMaps drawn = training_maps(maps, parts.layers, parts.heads, scale);
    const double used = static_cast<double>(parts.layers * drawn.rows_per_layer) * drawn.pitch_y;
    plot = std::clamp(plot + std::floor(maps.height - used), plot, std::max(plot, most_plot * scale));
  }
  const RectF above = take(plot);
  layout.plot = {above.x, above.y, std::floor(plot_width * above.width), above.height};
  const double between = 1.6 * gap * scale;
  layout.habits = {layout.plot.x + layout.plot.width + between, above.y,
                   above.width - layout.plot.width - between, above.height};
  y += gap * scale;
  layout.maps = take(left - plot);
  layout.readout = take(readout_height * scale);
  layout.changes = take(row * scale);
  layout.timeline = take(timeline_height * scale);
  return layout;
}

RectF TrainingMaps::plane(Index layer, Index head) const {
  const auto row_of = static_cast<double>(layer * rows_per_layer + head / per_row);
  return {area.x + static_cast<double>(head % per_row) * pitch_x, area.y + row_of * pitch_y + name_height,
          side, side};
}

TrainingMaps training_maps(const RectF& area, Index layers, Index heads, double scale) {
  TrainingMaps maps;
  maps.area = area;
  maps.heads = heads;
  maps.name_height = map_name * scale;
  // As large as they can be: in one row a layer, or in several.
  for (Index rows = 1; rows <= heads; ++rows) {
    const Index per_row = (heads + rows - 1) / rows;
    const double wide = area.width / static_cast<double>(per_row) - map_gap * scale;
    const double high =
        area.height / static_cast<double>(layers * rows) - maps.name_height - 0.5 * map_gap * scale;
    const double side = std::floor(std::max(least_side * scale, std::min(wide, high)));
    if (side <= maps.side) continue;
    maps.side = side;
    maps.per_row = per_row;
    maps.rows_per_layer = rows;
  }
  maps.pitch_x = maps.side + map_gap * scale;
  maps.pitch_y = maps.side + maps.name_height + 0.5 * map_gap * scale;
  return maps;
}

Index last_step_shown(Index reached) {
  constexpr Index least = 200;
  const Index wanted = std::max(least, reached + reached / 10);
  Index power = 1;
  while (power * 10 <= wanted) power *= 10;
  for (const Index digits : {10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100})
    if (digits * power / 10 >= wanted) return digits * power / 10;
  return 10 * power;
}

std::vector<CurvePoint> thinned_curve(const std::vector<CurvePoint>& curve, Index steps, int columns) {
  std::vector<CurvePoint> thinned;
  if (steps <= 0 || columns <= 0) return thinned;
  Index column = -1;
  double sum_steps = 0.0, sum_values = 0.0, count = 0.0;
  const auto end_column = [&] {
    if (count > 0.0) thinned.push_back({sum_steps / count, sum_values / count});
    sum_steps = sum_values = count = 0.0;
  };
  for (const CurvePoint& point : curve) {
    const auto at = static_cast<Index>(point.step * columns / static_cast<double>(steps));
    if (at != column) end_column();
    column = at;
    sum_steps += point.step;
    sum_values += point.value;
    count += 1.0;
  }
  end_column();
  return thinned;
}

std::vector<double> axis_ticks(double most, int at_most) {
  if (!(most > 0.0) || !std::isfinite(most)) return {0.0, 1.0};
  double step = std::pow(10.0, std::floor(std::log10(most)) - 1.0);
  for (int i = 0; std::ceil(most / step) + 1.0 > at_most; ++i) step *= i % 3 == 1 ? 2.5 : 2.0;
  std::vector<double> ticks;
  for (int i = 0; ticks.empty() || ticks.back() < most * (1.0 - 1e-9); ++i) ticks.push_back(i * step);
  return ticks;
}

}  // namespace headwise
