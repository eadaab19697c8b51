// One row of the attention weights as bars under a mask that is being painted, before the stroke and now: the
// share of the keys that are blocked goes to the others.
#pragma once

#include <optional>
#include <vector>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// The weights (N,H,L,S′) of one query, in the order of the keys;
// empty where the tensor is null or has no such row.
std::vector<double> weights_of_row(const TensorPtr& weights, Index batch, Index head, Index query);

// Where the bars stand: in the foot of the stage, right of what else is there, which ends at `used_right`.
// `under_columns`: each key's bar is under its column of the result. nullopt where there is no room.
struct MaskBarsPlace {
  RectF rect;
  bool under_columns = false;
};
std::optional<MaskBarsPlace> mask_bars_place(const StageLayout& layout, const RectF& area, double used_right,
                                             Index keys, bool queries_as_columns, double scale);

// Draws the row of `pair`, a cell of a map of query-key pairs: now as filled bars, and as outlines its
// weights in `before`, which were those when the last stroke began (null: there was none,
// or they are of other sizes).
void draw_mask_bars(const PanelContext& context, const StageContent& content, const StageLayout& layout,
                    const RectF& area, double used_right, const CellRef& pair, const TensorPtr& before);

}  // namespace headwise
