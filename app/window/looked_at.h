// What the panels of one frame are drawn from.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "app/panels/panel.h"
#include "app/window/window_state.h"

namespace headwise {

// What the panels look at stays the same while they are drawn, whatever they ask for.
struct LookedAt {
  ComputationPtr computation;
  TracePtr trace;  // the computation's, or the same with gradients
  std::string no_gradients;
  bool tells_of_waiting = false;  // a sentence that is another one a little later
  OtherSidePtr other_side;
  WordPredictionsPtr predictions;
  std::string no_predictions;
  Scenario scenario;
  std::string error, last_edit;
  Selection selection;

  explicit LookedAt(const WindowState& state)
      : computation(state.session.computation()),
        trace(computation->trace),
        scenario(state.session.scenario()),
        error(state.session.error()),
        last_edit(told_of_last_edit(state)),
        selection(state.selection) {}

  // Nothing is computed before the place that is looked at wants it.
  void add_gradients(WindowState& state) {
    if (!wants_gradients(selection)) return state.gradients.rest(computation->trace);
    if (const TracePtr back = state.gradients.of(computation, selection.loss)) {
      trace = back;
      state.selection = selection = selection_within(selection, *trace);
    } else {
      const std::string why = state.gradients.error();
      no_gradients = why.empty() ? told("computing the gradients", state.gradients.waiting()) : why;
    }
  }

  // The same of the view that compares.
  void add_other_side(WindowState& state) {
    if (selection.view != StageView::compare) return state.other_sides.rest();
    other_side = state.other_sides.of(computation, selection.compare_with);
    if (other_side) return;
    OtherSide none;
    none.why = told("computing the other side", state.other_sides.waiting());
    other_side = std::make_shared<const OtherSide>(std::move(none));
  }

  // And of the view of predictions.
  void add_predictions(WindowState& state) {
    if (selection.view != StageView::prediction) return state.predictions.rest();
    predictions = state.predictions.of(computation, selection.batch);
    if (!predictions) no_predictions = told("computing the predicted words", state.predictions.waiting());
  }

  // "computing the gradients: scores, 43 % (Escape cancels)"
  std::string told(const char* what, const Waiting& waiting) {
    tells_of_waiting = true;
    return waiting.told() ? what + waiting.text() + " (Escape cancels)" : std::string(what) + " …";
  }

  // A pinned cell lights its way while the mouse looks at others.
  std::optional<CellRef> reaching_cell() const {
    const Selection within = selection_within(selection, *trace);
    return within.pinned ? within.pinned : within.hovered;
  }

  PanelContext context(WindowState& state, HeatmapRenderer& heatmaps, const Fonts& fonts, float scale,
                       double& wake_after) const {
    if (tells_of_waiting) wake_after = std::min(wake_after, seconds_between_words);
    return {.scenario = scenario,
            .inputs = computation->inputs,
            .trace = *trace,
            .selection = selection,
            .last_edit = last_edit,
            .error = error,
            .heatmaps = heatmaps,
            .fonts = fonts,
            .palette = palette_of(state.settings.theme),
            .theme = state.settings.theme,
            .scale = scale,
            .focus = &state.focus,
            .motion = state.motion.progress,
            .reduce_motion = state.settings.reduce_motion,
            .other_side = other_side.get(),
            .no_gradients = no_gradients,
            .predictions = predictions.get(),
            .no_predictions = no_predictions,
            .pointed = &state.pointed,
            .pointing = &state.pointing,
            .trail = &state.trail,
            .reach = selection.all_the_way ? state.reach.of(trace, reaching_cell()) : nullptr,
            .wake_after = &wake_after};
  }
};

}  // namespace headwise
