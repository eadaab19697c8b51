// The stage: a step as the product (or map) that it is, with its tokens, numbers and heads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"
#include "app/stage/views.h"

namespace headwise {

// The spotlight: everything is dimmed except the focused cell and what it was computed from.

// The parts of `area` covered by none of the rectangles, as rectangles that do not overlap.
std::vector<RectF> outside_of(const RectF& area, const std::vector<RectF>& rectangles);

// What the mouse does on the mask: inspect, or paint pairs, rows or columns.
struct MaskBrush {
  int shape = 0;          // 0: inspects; else one of BrushShape, counted from 1
  bool painting = false;  // a stroke is under way
  bool blocks = true;     // whether the stroke blocks or frees the pairs that it touches
  // For a rectangle: where it began, and the scenario that it is drawn on.
  Index from_query = 0, from_key = 0;
  std::optional<Scenario> before;
  // What the bars under the map compare (app/stage/mask_bars.h): the pair of the stroke that the mouse was
  // over last, and attn_weights when the last stroke began.
  std::optional<CellRef> pair;
  TensorPtr weights_before;
};

struct StageState {
  bool alone =
      false;  // on the whole screen of a hall: the result without operands, and nothing to click around it
  std::string title;              // of the page that a picture is made of, instead of the step's name
  bool titled_elsewhere = false;  // in a hall: the page's words beside it say what the stage shows
  MaskBrush brush;
  ValueRanges ranges;
  bool hovering =
      false;  // a cell of the stage is focused: under the mouse in the last frame, or reached with the arrow keys
  bool by_keys = false;  // focused with the arrow keys
  // When something other than the mouse on the stage pins a cell or moves the pinned cell, whatever lies
  // under the mouse is ignored until the mouse moves.
  Selection place;  // of the last frame, without the hovered cell
  RectF area;       // of the stage in the last frame: a map that moves under the mouse was not pointed at
  std::optional<ImVec2> mouse_at_rest;
  OneHeadState one_head;
  TokensState tokens;
  ElementwiseState elementwise;
  GradientsState gradients;
  CompareState compare;
  MemoryViewState memory;
  PredictionState prediction;
  AllHeadsState all_heads;
  HeadRowsState head_rows;
  QueryKeyState query_key;
};

// What was chosen on the stage itself and is no part of the selection:
// a picture of what is seen needs it too.
struct StageChoices {
  Index query = 0;      // in q∘k
  Index first_row = 0;  // of the positions in Prediction
  // In the Q–K plane: the query, and how far arrows were moved
  Index plane_query = 0;
  std::map<QueryPlace, PlanePoint> moves;
  // In Rows: the query, and the first of the heads
  std::optional<Index> rows_query;
  Index first_head = 0;
  // In Rows and Prediction: the position that the prediction tells most about, with which they begin
  Index rows_salient = 0, predicted_salient = 0;
};
StageChoices choices_of(const StageState& state);
void take_choices(StageState& state, const StageChoices& choices);
// The query that was chosen in a view of a single one; none where the view has its first one, or is no such
// view.
std::optional<Index> chosen_query(const StageChoices& choices, StageView view);
// The query that such a view has where none was chosen and none is pinned.
Index first_query(const StageChoices& choices, StageView view);
// Whether an arrow was moved in the Q–K plane of this sequence and head.
bool has_moved_query(const StageChoices& choices, const Selection& at);
// Such views begin with their first query again, and with its arrow where q has it.
void forget_queries(StageState& state);

// Fills the current ImGui window.
PanelAction draw_stage(const PanelContext& context, StageState& state);

}  // namespace headwise
