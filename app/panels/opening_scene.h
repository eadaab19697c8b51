// The first thing a person sees: a sentence, and what one of its words attends to. "How?" unfolds the stage
// around the same numbers.
#pragma once

#include <optional>

#include "app/content/opening_layout.h"
#include "app/session/opening_row.h"
#include "app/widgets/painter.h"
#include "core/export/plane_rule.h"

namespace headwise {

// How long it takes at normal speed, in seconds.
inline constexpr double opening_grow_seconds = 1.1;    // the arcs, from the first frame on
inline constexpr double opening_swing_seconds = 0.7;   // from one noun to the other
inline constexpr double opening_unfold_seconds = 1.2;  // from the scene to the stage

struct OpeningState {
  std::optional<OpeningSubject> subject;
  bool shown = false;      // the scene covers the window, or is unfolding over it
  bool unfolding = false;  // the stage appears
  double grown = 0.0;      // of the arcs, 0 to 1
  double swung = 1.0;      // from the previous row to this one
  double unfolded = 0.0;   // 0: only the scene; 1: it is gone

  ComputationPtr row_of;
  std::optional<OpeningRow> row, previous;
};

// Shows the scene from its beginning.
void begin_opening(OpeningState& state, OpeningSubject subject);
// Takes in what is computed; without a row of its sentence the scene ends.
void observe_opening(OpeningState& state, const ComputationPtr& computation);
// Lets the stage appear. Does nothing if it does already.
void unfold_opening(OpeningState& state);
// `seconds` since the last frame, at normal speed; `still`: nothing moves, everything is where it ends.
// True while something moves.
bool advance_opening(OpeningState& state, double seconds, bool still);

// What was asked for in this frame.
struct OpeningAction {
  bool unfold = false;        // "How?"
  bool swap = false;          // the other word
  bool own_sentence = false;  // unfold, to type one
};

// Draws the scene into the current ImGui window, of this size, with its controls.
OpeningAction draw_opening(const WidgetContext& context, const OpeningState& state, ImVec2 size);

// Where the row goes when the stage appears; colours are those of its cells.
struct OpeningTarget {
  PlaneGeometry map;  // (L,S) on the screen
  Index row = 0;
  Theme theme = Theme::dark;
  ColorMap color_map = ColorMap::viridis;
  ValueRange range;
};
// Draws, over the stage, the scene on its way there; without a target it fades.
void draw_unfolding(const WidgetContext& context, const OpeningState& state, ImVec2 size,
                    const std::optional<OpeningTarget>& target);

}  // namespace headwise
