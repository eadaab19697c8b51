// "Heads of the model": every head of every layer with what it looks at in the text, measured, and what the model would say
// without it. A click leads there.
#pragma once

#include "app/session/head_finding.h"
#include "app/sheets/heads_table.h"

namespace headwise {

struct HeadsSheetState {
  bool open = false;
  bool came = false;  // its table was there in the frame before
  HeadsTableState table;
};

// While open. Closing it gives up what is under way. The action of a head that was chosen leads to its layer, as an edit, and to the
// head.
PanelAction draw_heads_sheet(const PanelContext& context, HeadFinding& finding, HeadsSheetState& state);

}  // namespace headwise
