// A number set by hand: below the pinned cell of an input, a parameter or a mask.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

// A field with the cell's number, if the cell can be edited; what is typed becomes an edit of the Scenario.
void draw_cell_editor(const PanelContext& context, const CellRef& cell, PanelAction& action);

}  // namespace headwise
