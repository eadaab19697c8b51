// One query's row of attention weights in every head, one below the other, each in the head's hue and with a
// switch; beside them what the model predicts at that token, and the choice between the heads and one wide
// head of the same parameters.
#pragma once

#include <optional>

#include "app/panels/panel.h"
#include "app/stage/head_names.h"

namespace headwise {

struct HeadRowsState {
  std::optional<Index> query;  // chosen here; none: the position that the prediction tells most about
  Index telling = 0;           // that position, of the last frame
  Index first_row = 0;         // of the heads, where not all fit
  Index looked_at = -1;        // the head of the last frame: another one is scrolled into view
  HeadNames head_names;        // of heads whose function has no name: what they are measured to do
  // What was read as one wide head, and what that edit made of it: the way back.
  struct Wide {
    Scenario many, one;
  };
  std::optional<Wide> wide;
};

// Whether this trace has attention weights to show.
bool has_head_rows_view(const Trace& trace);

// `under_mouse` is set to the weight under the mouse, if any. context.predictions may be null.
PanelAction draw_head_rows(const PanelContext& context, HeadRowsState& state, RectF area,
                           std::optional<CellRef>& under_mouse);

}  // namespace headwise
