// What the inspector says in the Prediction view: the token that the model predicts at the selected position.
#pragma once

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"

namespace headwise {

// True if it said something; false in every other view, and where there is no prediction.
bool draw_inspected_prediction(const PanelContext& context, TextColumn& column);

}  // namespace headwise
