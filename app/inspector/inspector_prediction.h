// What the inspector says in the view Prediction: of the word that the model says at the position that is looked at.
#pragma once

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"

namespace headwise {

// True where it said it; false in every other view, and where there is no prediction.
bool draw_inspected_prediction(const PanelContext& context, TextColumn& column);

}  // namespace headwise
