// The view of all heads: the step's result at every head as a grid, in the same colours, each with its
// number.
#pragma once

#include "app/panels/head_words.h"
#include "app/panels/panel.h"
#include "app/panels/stage_content.h"

namespace headwise {

// `under_mouse` is set to the cell that the mouse is over, if any. Over maps of queries and keys stand words on what the
// head does, where they fit.
PanelAction draw_all_heads(const PanelContext& context, HeadFigures& figures, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
