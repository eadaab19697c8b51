// The view of comparison: the step's result of another scenario, of this one, and their difference, with one cursor for all.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/panels/panel.h"
#include "app/panels/stage_content.h"
#include "core/answers/tensor_change.h"

namespace headwise {

// How one map became another, kept until either is another.
struct MapDifference {
  MatrixView before, after;  // that it is of
  TensorPtr values;          // after − before, (rows,cols)
  TensorPtr mask;            // −∞ where both sides block; null where not both have a mask
  TensorChange change;
};

// The same of a whole tensor.
struct WholeChange {
  TensorPtr before, after;
  TensorChange change;
};

struct CompareState {
  std::optional<MapDifference> map;
  WholeChange all_heads, output;
  std::optional<std::pair<Index, Index>> cell;  // row and column under the mouse, in whichever of the maps
};

// "max |Δ| = 0.353 (it → animal), ‖Δ‖ is 12 % of ‖pinned‖", "the same in every cell, max |Δ| = 0". `where`: of the largest.
std::string change_text(const TensorChange& change, const std::string& before, const std::string& where = {});

// `content`, of the present trace, has cells. `under_mouse` is set to the present cell that the mouse is over, on any of the maps.
PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
