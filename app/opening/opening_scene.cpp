#include "app/opening/opening_scene.h"

#include <algorithm>
#include <utility>

#include "app/content/motion.h"

namespace headwise {

void begin_opening(OpeningState& state, OpeningSubject subject) {
  state = {};
  state.subject = std::move(subject);
  state.shown = true;
}

void observe_opening(OpeningState& state, const ComputationPtr& computation) {
  if (!state.shown || state.row_of == computation) return;
  std::optional<OpeningRow> row = opening_row(*state.subject, computation);
  state.row_of = computation;
  // What is unfolding keeps the row that it began with.
  if (state.unfolding && state.row) return;
  if (!row) {
    state.shown = false;
    return;
  }
  if (state.row) {
    state.previous = std::move(state.row);
    state.swung = 0.0;
  }
  state.row = std::move(row);
}

void unfold_opening(OpeningState& state) {
  if (!state.shown) return;
  state.unfolding = true;
  state.grown = state.swung = 1.0;
}

bool advance_opening(OpeningState& state, double seconds, bool still) {
  if (!state.shown) return false;
  const auto advance = [&](double& progress, double duration, bool at_once) {
    progress = at_once ? 1.0 : std::min(1.0, progress + seconds / duration);
  };
  advance(state.grown, opening_grow_seconds, still);
  advance(state.swung, opening_swing_seconds, still);
  if (state.unfolding) {
    advance(state.unfolded, opening_unfold_seconds, false);
    if (state.unfolded >= 1.0) state.shown = state.unfolding = false;
  }
  return state.shown && (state.grown < 1.0 || state.swung < 1.0 || state.unfolding);
}

}  // namespace headwise
