// What the inspector says in the Prediction view: the token that the model predicts at the selected position.
#pragma once

#include <string>

#include "app/panels/panel.h"
#include "app/widgets/text_column.h"
#include "core/model/transformer/transformer_config.h"

namespace headwise {

// True if it said something; false in every other view, and where there is no prediction.
bool draw_inspected_prediction(const PanelContext& context, TextColumn& column);

// Where that is, and what the model has read there: "After “river” (position 4): the next word. …"
std::string prediction_place(const std::string& token, Index position, const TransformerConfig& config);

}  // namespace headwise
