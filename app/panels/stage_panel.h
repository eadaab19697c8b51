// The stage: a step as the product (or map) that it is, with its tokens, its numbers and its heads.
#pragma once

#include <imgui.h>

#include <optional>

#include "app/panels/panel.h"
#include "app/panels/stage_all_heads.h"
#include "app/panels/stage_compare.h"
#include "app/panels/stage_elementwise.h"
#include "app/panels/stage_gradients.h"
#include "app/panels/stage_memory.h"
#include "app/panels/stage_one_head.h"
#include "app/panels/stage_prediction.h"
#include "app/panels/stage_tokens.h"
#include "app/panels/value_ranges.h"

namespace headwise {

// How the mouse acts on the mask: it looks, or paints pairs, rows or columns.
struct MaskBrush {
  int shape = 0;          // 0: it looks; then one of BrushShape, counted from 1
  bool painting = false;  // a stroke is under way
  bool plain = false;     // it began where there was no mask: the map stays where it is until it ends
  bool blocks = true;     // what the stroke makes of the pairs that it meets
  // Of a rectangle: where it began, and the scenario that it is drawn on.
  Index from_query = 0, from_key = 0;
  std::optional<Scenario> before;
};

struct StageState {
  MaskBrush brush;
  ValueRanges ranges;
  bool hovering =
      false;  // a cell of the stage is looked at, under the mouse in the last frame or reached by the arrows
  bool by_keys = false;  // by the arrows
  // Where something was pinned, or the pinned cell was taken to another place, by something else than the mouse on the
  // stage: until the mouse moves, what it happens to lie on is not looked at.
  Selection place;  // of the last frame, without what is under the mouse
  std::optional<ImVec2> mouse_at_rest;
  OneHeadState one_head;
  TokensState tokens;
  ElementwiseState elementwise;
  GradientsState gradients;
  CompareState compare;
  MemoryViewState memory;
  PredictionState prediction;
  AllHeadsState all_heads;
};

// Fills the current ImGui window.
PanelAction draw_stage(const PanelContext& context, StageState& state);

}  // namespace headwise
