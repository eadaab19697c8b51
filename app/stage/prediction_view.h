// The view of what the model predicts: at each position its most probable token with the layer untouched, and
// with the layer as it is here; next to them all likely tokens of the selected position, and the heads,
// which can be muted.
#pragma once

#include <optional>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "app/stage/head_names.h"
#include "core/model/transformer/prediction_change.h"
#include "core/model/transformer/transformer_config.h"

namespace headwise {

struct PredictionState {
  Index telling = 0;            // the position shown when none is selected, of the last frame
  Index first_row = 0;          // of the list, where not all positions fit
  std::optional<Index> wanted;  // the position selected in the last frame: the list scrolls to it once
  HeadRanges head_ranges;       // of the thumbnails
  HeadNames head_names;         // under them
};

// The position whose predictions are shown when none is selected: where most has changed, else where the
// model predicts a token other than the one in its place, else the last.
Index telling_position(const TokenPredictions& predictions, PredictedToken kind);

// The same for what the window shows; 0 without predictions.
Index telling_position(const PanelContext& context);

// The position whose predictions are shown: that of the selected query, else telling_position.
// context.predictions must have positions.
Index predicted_position(const PanelContext& context);

// Differences below the displayed precision, 0.0005 bits, are no change; NaN is one.
bool has_changed(const PredictionChange& change);

// The likely tokens of one position, currently most probable first, with a bar for each side: original, and
// with your changes. context.predictions must have that position.
void draw_predicted_words(const PanelContext& context, Index position, RectF area);

// `weights`: the content of the softmax step. `under_mouse` is set to the strongest weight of the position
// under the mouse, if any. context.predictions may be null.
PanelAction draw_prediction(const PanelContext& context, PredictionState& state, const StageContent& weights,
                            RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
