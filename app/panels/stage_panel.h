// The stage: a step as the product (or map) that it is, with its tokens, its numbers and its heads.
#pragma once

#include "app/panels/panel.h"
#include "app/panels/stage_elementwise.h"
#include "app/panels/stage_gradients.h"
#include "app/panels/stage_one_head.h"
#include "app/panels/stage_tokens.h"
#include "app/panels/value_ranges.h"

namespace headwise {

struct StageState {
  ValueRanges ranges;
  bool hovering = false;  // a cell of the stage was under the mouse in the last frame
  OneHeadState one_head;
  TokensState tokens;
  ElementwiseState elementwise;
  GradientsState gradients;
};

// Fills the current ImGui window.
PanelAction draw_stage(const PanelContext& context, StageState& state);

}  // namespace headwise
