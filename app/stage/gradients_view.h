// The view of the backward pass: the tensors of a step, each next to its gradient, which has its own colours.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/cell_legend.h"

namespace headwise {

// The ranges of the maps drawn last, cached until others are drawn.
class GradientRanges {
 public:
  // From −m to m, with m taken over the cells of this map alone.
  ValueRange of(const MatrixView& view);

 private:
  struct Entry {
    std::weak_ptr<const Tensor> tensor;
    MatrixView place;  // without its tensor
    ValueRange range;
  };
  std::vector<Entry> entries_;
};

struct GradientsState {
  GradientRanges ranges;
  CellLegend legend;
};

// A matrix of the trace as stored, and the same cells of its gradient.
struct GradientPair {
  std::string place;  // "result", "left", "above"
  StagePart value;
  std::optional<StagePart> gradient;
  std::string absent;  // why there is none
};

// For the content of a step in a trace that has gradients: the result first, then its operands, each tensor
// once. Operands that are transposed in the product appear here as stored: rows are tokens in all of them.
std::vector<GradientPair> gradient_pairs(const Trace& trace, const StageContent& content,
                                         GradientRanges& ranges);

// `content` has cells. `under_mouse` is set to the cell under the mouse, if any.
PanelAction draw_gradients(const PanelContext& context, GradientsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
