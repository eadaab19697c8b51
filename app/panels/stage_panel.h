// The stage: a step as the product (or map) that it is, with its tokens, its numbers and its heads.
#pragma once

#include <memory>

#include "app/panels/panel.h"
#include "app/panels/softmax_figures.h"
#include "app/panels/value_ranges.h"

namespace headwise {

struct StageState {
  ValueRanges ranges;
  bool hovering = false;  // a cell of the stage was under the mouse in the last frame

  // Of the head that is shown, kept until another is
  SoftmaxFigures figures;
  std::weak_ptr<const Tensor> figures_of;
  Index figures_offset = -1;
};

// Fills the current ImGui window.
PanelAction draw_stage(const PanelContext& context, StageState& state);

}  // namespace headwise
