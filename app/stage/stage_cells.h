// The cells of the stage's maps: which one is focused, what cells without a colour mean, and which axis is
// pointed at.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <imgui.h>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "core/export/picture_builder.h"
#include "core/export/plane_rule.h"

namespace headwise {

// Focused is the cell under the mouse, or the one reached with the arrow keys while a map has keyboard focus.
// Each map that calls this becomes a tab stop.

// For a plane of cells; `name` distinguishes it from the other planes drawn,
// `first` is where the arrow keys start.
std::optional<std::pair<Index, Index>> pointed_plane_cell(const PanelContext& context, std::string_view name,
                                                          const PlaneGeometry& plane,
                                                          std::pair<Index, Index> first = {0, 0});
// For a part of the stage; the arrow keys start at the pinned cell if it is visible.
std::optional<CellRef> pointed_cell(const PanelContext& context, std::string_view name, const StagePart& part,
                                    const PlaneGeometry& plane);

// The line reached with the arrow keys, of `count` lines that fill a rectangle, which is one tab stop; none
// where the mouse decides.
std::optional<Index> line_reached(const PanelContext& context, std::string_view name, const RectF& lines,
                                  Index count);
// Whether the arrow keys were used more recently than the mouse:
// what lies under the mouse is then not focused.
bool keys_decide(const PanelContext& context);

// The cells on the straight line from one cell to another, with both: a fast stroke skips some between two
// frames.
std::vector<std::pair<Index, Index>> cells_between(std::pair<Index, Index> from, std::pair<Index, Index> to);

// A mouse press in this frame, or Enter or Space on the cell reached with the arrow keys.
bool cell_pressed(const PanelContext& context);
// Whether what was pressed is still down.
bool cell_held(const PanelContext& context);

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

// The room to the right of the bars for an entry with this text.
double cell_legend_width(const PanelContext& context, const std::string& text);

// The same beside a colour bar whose words end at `words_end`,
// or under their end where there is no room beside them.
std::optional<float> draw_legend_beside(const PanelContext& context, const CellLegend& legend,
                                        const RectF& bar, float words_end, float right);

// Highlights the axis whose letter is pointed at on a matrix that has it: a bracket with its size.
// In an axis that joins heads, "H·D", H is marked with a tick at every head, D over the block of the chosen
// head. An axis that is not drawn (N or H in one head's map)
// frames the matrix and says which index of how many it shows.
void draw_axis_light(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane);

}  // namespace headwise
