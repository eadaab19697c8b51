// What the mask step adds to its map: the masks as booleans, in either convention (letters, a line of code,
// an array to copy), and one row of the attention weights as bars under a mask that is being painted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"
#include "app/session/selection.h"
#include "app/widgets/painter.h"
#include "core/export/code_style.h"
#include "core/export/plane_rule.h"

namespace headwise {

// Whether the masks of this trace only block, so that a map of booleans captures them completely.
bool is_boolean(const MatrixView& mask_bias);

// T and F in the cells of mask_bias, where they fit; false if nothing was drawn: no boolean convention is
// selected, the plane is not a mask or not boolean, or its cells are too small.
bool draw_mask_letters(const Painter& paint, const StagePart& part, const PlaneGeometry& plane,
                       MaskConvention reading);

// The code that makes a boolean attn_mask of mask_bias, and a comment on which libraries read it this way;
// none for MaskConvention::added.
struct MaskCode {
  std::string code, comment;
};
std::optional<MaskCode> mask_code(CodeStyle style, MaskConvention reading);

// "np.array([[False, True], …])" for one map of mask_bias, in this convention. Throws Error(usage)
// if it is not boolean.
std::string mask_as_booleans(const MatrixView& mask_bias, MaskConvention reading);

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
