// The view of all heads: the step's result at every head as a grid, in shared colours or each in its own, each with its
// number.
#pragma once

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/cell_legend.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_words.h"

namespace headwise {

struct AllHeadsState {
  HeadFigures figures;
  HeadRanges ranges;  // used where each head has its own colours
  CellLegend legend;
};

// `under_mouse` is set to the cell under the mouse, if any. Maps of queries and keys carry a few words on what the head
// does, where they fit.
PanelAction draw_all_heads(const PanelContext& context, AllHeadsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
