// The view of comparison: the step's result of another scenario, of this one, and their difference, with one cursor for all.
#pragma once

#include <optional>
#include <utility>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/compare_changes.h"

namespace headwise {

struct CompareState {
  CompareChanges changes;
  std::optional<std::pair<Index, Index>> cell;  // row and column under the mouse, in whichever of the maps
};

// `content`, of the present trace, has cells. `under_mouse` is set to the present cell that the mouse is over, on any of the maps.
PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
