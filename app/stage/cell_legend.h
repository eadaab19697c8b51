// The legend beside a colour bar: what cells without a colour of the bar mean, "blocked", "NaN",
// if any map shown has them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "app/panels/panel.h"
#include "core/picture/color_bar.h"

namespace headwise {

// Of the maps shown last, cached until others are shown: looking through the cells of many heads takes long.
struct CellLegend {
  std::vector<LegendEntry> entries;
  std::weak_ptr<const Tensor> first, last, first_mask, last_mask;
  Index offset = -1;
  std::size_t maps = 0;
  Theme theme = Theme::dark;
  // Finds the entries for these maps: those of all heads of one tensor, or two of different traces.
  void update(std::span<const HeatmapSpec* const> specs);
};

enum class LegendLines { column, row };  // at most two entries below each other, or side by side

// Draws the entries that fit left of `right`, with the top left corner at `at`; returns where they end,
// none if no entry fits.
std::optional<float> draw_cell_legend(const PanelContext& context, const CellLegend& legend, ImVec2 at,
                                      float right, LegendLines lines);

// The same beside a colour bar whose words end at `words_end`,
// or under their end where there is no room beside them.
std::optional<float> draw_legend_beside(const PanelContext& context, const CellLegend& legend,
                                        const RectF& bar, float words_end, float right);

}  // namespace headwise
