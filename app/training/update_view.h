// "One number": what the next step of the training makes of one value of a parameter, by which formula, and why.
#pragma once

#include "app/panels/panel.h"
#include "app/session/explained_cell.h"
#include "app/widgets/drop_down.h"

namespace headwise {

struct UpdateViewState {
  std::string parameter;           // its name; empty: W_Q, W_K and W_V of the last layer
  std::optional<CellPlace> place;  // null: the number that changes most
  DropDownState parameters;
};

// `run`: of the trainings, that whose number is shown. Starts the work that it shows,
// and writes what the mouse is on into `told`.
void draw_update_view(const PanelContext& context, LiveTraining& training, ExplainedCells& cells,
                      UpdateViewState& state, std::size_t run, const RectF& area, std::string& readout);

}  // namespace headwise
