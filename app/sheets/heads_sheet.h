// "Heads of the model": every head of every layer with what it attends to in the text, measured, and what the model would
// predict without it. A click leads there.
#pragma once

#include "app/session/head_finding.h"
#include "app/sheets/heads_table.h"

namespace headwise {

struct HeadsSheetState {
  bool open = false;
  bool came = false;  // its table was shown in the previous frame
  HeadsTableState table;
};

// Draws while open. Closing it cancels the work under way. Choosing a head returns an action that leads to
// its layer, as an edit, and to the head.
PanelAction draw_heads_sheet(const PanelContext& context, HeadFinding& finding, HeadsSheetState& state);

}  // namespace headwise
