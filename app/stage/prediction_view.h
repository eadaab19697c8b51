// The view of what the model says: at each position its most probable word with the layer untouched, and with the layer as it is
// here; beside them all likely words of the position that is looked at, and the heads, to be muted.
#pragma once

#include <optional>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/head_colors.h"
#include "core/model/transformer/prediction_change.h"

namespace headwise {

struct PredictionState {
  Index first_row = 0;          // of the list, where not all positions have room
  std::optional<Index> wanted;  // the position that was looked at in the last frame: the list follows it once
  HeadRanges head_ranges;       // of the thumbnails
};

// The position whose words are told when nobody looks at one: where most has changed, else where the model says another word
// than stands there, else the last.
Index telling_position(const TokenPredictions& predictions, bool says_next);

// The position whose words are told: that of the query that is looked at, else telling_position. context.predictions must have
// positions.
Index predicted_position(const PanelContext& context);

// Less than what is told of it, 0.0005 bits, is no change; NaN is one.
bool has_changed(const PredictionChange& change);

// `weights`: the content of the softmax step. `under_mouse` is set to the strongest weight of the position that the mouse is
// over, if any. context.predictions may be null.
PanelAction draw_prediction(const PanelContext& context, PredictionState& state, const StageContent& weights,
                            RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
