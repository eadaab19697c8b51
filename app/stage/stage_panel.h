// The stage: a step as the product (or map) that it is, with its tokens, its numbers and its heads.
#pragma once

#include <imgui.h>

#include <optional>

#include "app/content/value_ranges.h"
#include "app/panels/panel.h"
#include "app/stage/all_heads_view.h"
#include "app/stage/compare_view.h"
#include "app/stage/elementwise_view.h"
#include "app/stage/gradients_view.h"
#include "app/stage/memory_view.h"
#include "app/stage/one_head_view.h"
#include "app/stage/prediction_view.h"
#include "app/stage/tokens_view.h"

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
