// The comparison view: the step's result in another scenario, in this one, and their difference, with one shared cursor.
#pragma once

#include <optional>
#include <utility>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/cell_legend.h"
#include "app/stage/compare_changes.h"

namespace headwise {

struct CompareState {
  CompareChanges changes;
  CellLegend legend;
  std::optional<std::pair<Index, Index>> cell;  // row and column under the mouse, in whichever of the maps
};

// `content` comes from the present trace and has cells. `under_mouse` is set to the present trace's cell under the mouse,
// on any of the maps.
PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
