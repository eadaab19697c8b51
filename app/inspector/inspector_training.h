// How the next step of the watched training changes a parameter's number, in the inspector.
#pragma once

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/trace/cell_provenance.h"

namespace headwise {

// The gradient that the step uses, the optimiser's state and the formula of the update, as the training view shows them. Draws nothing for
// a cell that no watched training changes; a sentence where the model was edited.
void draw_training_update(const PanelContext& context, TextColumn& column, const CellRef& cell);

}  // namespace headwise
