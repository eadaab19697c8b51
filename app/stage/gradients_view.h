// The view of the backward pass: the tensors of a step, each beside its gradient in colours of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// The ranges of the maps that were drawn last, kept until others are.
class GradientRanges {
 public:
  // From −m to m over the cells of this map alone.
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
};

// A matrix of the trace as it is stored, and the same cells of its gradient.
struct GradientPair {
  std::string place;  // "result", "left", "above"
  StagePart value;
  std::optional<StagePart> gradient;
  std::string absent;  // why there is none
};

// Of the content of a step, in a trace that has its gradients: the result first, then its operands, each tensor once.
// Operands that stand transposed in the product stand here as they are stored: rows are tokens in all of them.
std::vector<GradientPair> gradient_pairs(const Trace& trace, const StageContent& content,
                                         GradientRanges& ranges);

// `content` has cells. `under_mouse` is set to the cell that the mouse is over, if any.
PanelAction draw_gradients(const PanelContext& context, GradientsState& state, const StageContent& content,
                           RectF area, std::optional<CellRef>& under_mouse);

}  // namespace headwise
