#include "app/stage/cell_legend.h"

#include <algorithm>
#include <cmath>

#include "app/widgets/heatmap_view.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::size_t most_entries = 2;  // as many lines as the strip and its ticks are high

void add_contents(HeatmapContents& sum, const HeatmapContents& more) {
  sum.values += more.values;
  sum.blocked += more.blocked;
  sum.blocked_values += more.blocked_values;
  sum.nans += more.nans;
  sum.minus_infs += more.minus_infs;
  sum.plus_infs += more.plus_infs;
}

}  // namespace

void CellLegend::update(std::span<const HeatmapSpec* const> specs) {
  if (specs.empty()) return entries.clear();
  const HeatmapSpec &begin = *specs.front(), &end = *specs.back();
  const auto mask_of = [](const HeatmapSpec& spec) { return spec.mask ? spec.mask->tensor : nullptr; };
  if (first.lock() == begin.values.tensor && last.lock() == end.values.tensor &&
      first_mask.lock() == mask_of(begin) && last_mask.lock() == mask_of(end) &&
      offset == begin.values.offset && maps == specs.size() && theme == begin.theme)
    return;
  HeatmapContents all;
  for (const HeatmapSpec* const spec : specs) add_contents(all, heatmap_contents(*spec));
  entries = legend_entries(begin, all);
  first = begin.values.tensor;
  last = end.values.tensor;
  first_mask = mask_of(begin);
  last_mask = mask_of(end);
  offset = begin.values.offset;
  maps = specs.size();
  theme = begin.theme;
}

std::optional<float> draw_cell_legend(const PanelContext& context, const CellLegend& legend, ImVec2 at,
                                      float right, LegendLines lines) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float u = context.scale, side = std::round(14.0f * u), line = std::round(17.0f * u), gap = 6.0f * u;
  float x = std::round(at.x), y = std::round(at.y);
  std::optional<float> reached;
  std::vector<HeatmapPlane> planes;
  for (const LegendEntry& entry : legend.entries) {
    const float end = x + side + gap + width_of(font, entry.text);
    if (end > right || planes.size() == most_entries) break;
    reached = std::max(reached.value_or(end), end);
    planes.push_back({&entry.swatch, ImVec2(x, y), ImVec2(x + side, y + side)});
    paint.text(font, {x + side + gap, y + (side - font->FontSize) / 2}, context.palette.text_dim, entry.text);
    ui_probe("stage/legend/" + entry.text, ImVec2(x, y), ImVec2(end, y + side));
    if (lines == LegendLines::column)
      y += line;
    else
      x = std::round(end + 14.0f * u);
  }
  if (!planes.empty()) draw_heatmap_planes(paint.list, context.heatmaps, planes);
  return reached;
}

std::optional<float> draw_legend_beside(const PanelContext& context, const CellLegend& legend,
                                        const RectF& bar, float words_end, float right) {
  const float u = context.scale, y = float(bar.y);
  const float beside_strip = float(bar.x + bar.width) + 28.0f * u;
  const ImVec2 beside{std::max(beside_strip, words_end + 14.0f * u), y - 4.0f * u};
  const auto end = draw_cell_legend(context, legend, beside, right, LegendLines::column);
  return end ? end : draw_cell_legend(context, legend, {beside_strip, y + u}, right, LegendLines::column);
}

}  // namespace headwise
