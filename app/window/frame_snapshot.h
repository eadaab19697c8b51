// What the panels of one frame are drawn from.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "app/content/stage_views.h"
#include "app/panels/panel.h"
#include "app/window/page_turns.h"
#include "app/window/window_state.h"
#include "app/window/window_training.h"

namespace headwise {

// What the panels show stays the same while they are drawn, whatever they request.
struct FrameSnapshot {
  ComputationPtr computation;
  TracePtr trace;  // the computation's, or the same with gradients; an empty one where the page is refused
  std::string gradients_refusal;
  bool shows_waiting = false;  // shows a sentence that will change shortly
  ComparisonTargetPtr comparison_target;
  WordPredictionsPtr predictions;
  std::string predictions_refusal;
  std::optional<WatchedModel> watched;
  Scenario scenario;
  std::string error, last_edit;
  Selection selection;
  std::optional<Veil> veil;
  std::optional<TensorId> points_at;
  bool points_at_tensors = false, points_at_heads = false, pinned_by_page = false;
  bool page_refused = false;  // what was last computed belongs to another page than the one that is shown

  explicit FrameSnapshot(const WindowState& state)
      : computation(state.document.session.computation()),
        trace(computation->trace),
        scenario(state.document.session.scenario()),
        error(state.document.session.error()),
        last_edit(last_edit_notice(state.document)),
        selection(state.view.selection),
        veil(veil_of(state.document.walk)),
        points_at(tensor_to_point_at(state.document.walk)),
        points_at_tensors(asks_for_tensor(state.document.walk)),
        points_at_heads(asks_for_head(state.document.walk)),
        pinned_by_page(is_pinned_by_page(state.document.walk, selection)),
        page_refused(state.document.walk.refused()) {
    // Neither the setup nor the menu bar tells sizes of the page before.
    if (page_refused) trace = std::make_shared<const Trace>();
    keep_veiled();
  }

  // A link, the arrow keys or the mouse over the veil may lead to a number that is hidden: no panel tells it.
  // Nor one in the only head that is shown, where a page asks which it is.
  void keep_veiled() {
    const bool in_head = points_at_heads && stage_view_entry(selection.view).of_head;
    for (std::optional<CellRef>* cell : {&selection.pinned, &selection.hovered})
      if (*cell && (page_refused || in_head || (veil && veil->hides((*cell)->tensor)))) cell->reset();
  }

  // Nothing is computed before the current place needs it.
  void add_gradients(WindowState& state) {
    Gradients& gradients = state.document.gradients;
    if (!wants_gradients(selection)) return gradients.suspend(computation->trace);
    if (const TracePtr back = gradients.of(computation, selection.loss)) {
      trace = back;
      state.view.selection = selection = selection_within(selection, *trace);
    } else {
      const std::string why = gradients.error();
      gradients_refusal = why.empty() ? waiting_sentence("computing the gradients", gradients.waiting()) : why;
    }
  }

  // The same for the comparison view.
  void add_comparison_target(WindowDocument& document) {
    if (selection.view != StageView::compare) return document.comparison_targets.suspend();
    comparison_target = document.comparison_targets.of(computation, selection.compare_with);
    if (comparison_target) return;
    ComparisonTarget none;
    none.why = waiting_sentence("computing the other side", document.comparison_targets.waiting());
    comparison_target = std::make_shared<const ComparisonTarget>(std::move(none));
  }

  // And for the views with predicted words.
  void add_predictions(WindowDocument& document) {
    const bool shown = selection.view == StageView::prediction ||
                       (selection.view == StageView::head_rows && offers_prediction(scenario));
    if (!shown) return document.predictions.suspend();
    predictions = document.predictions.of(computation, selection.batch);
    if (!predictions)
      predictions_refusal = waiting_sentence("computing the predicted words", document.predictions.waiting());
  }

  // Not while the training view is open, which asks for explanations of its own.
  void add_training(WindowState& state) {
    if (!state.dialogs.training.open) watched = watched_model(state, computation->scenario);
  }

  // "computing the gradients: scores, 43 % (Escape cancels)"
  std::string waiting_sentence(const char* what, const Waiting& waiting) {
    shows_waiting = true;
    return waiting.is_long() ? what + waiting.text() + " (Escape cancels)" : std::string(what) + " …";
  }

  // A pinned cell keeps its reach lit while the mouse is over others.
  std::optional<CellRef> reaching_cell() const {
    const Selection within = selection_within(selection, *trace);
    return within.pinned ? within.pinned : within.hovered;
  }

  PanelContext context(WindowView& view, HeatmapRenderer& heatmaps, const Fonts& fonts, float scale,
                       double& wake_after) const {
    if (shows_waiting) wake_after = std::min(wake_after, seconds_between_words);
    return {.scenario = scenario,
            .inputs = computation->inputs,
            .trace = *trace,
            .selection = selection,
            .last_edit = last_edit,
            .error = error,
            .heatmaps = heatmaps,
            .fonts = fonts,
            .palette = palette_of(view.settings.theme),
            .theme = view.settings.theme,
            .scale = scale,
            .focus = &view.focus,
            .motion = view.motion.progress,
            .reduce_motion = view.settings.reduce_motion,
            .comparison_target = comparison_target.get(),
            .gradients_refusal = gradients_refusal,
            .predictions = predictions.get(),
            .predictions_refusal = predictions_refusal,
            .pointed = &view.pointed,
            .pointing = &view.pointing,
            .trail = &view.trail,
            .reach = selection.all_the_way ? view.reach.of(trace, reaching_cell()) : nullptr,
            .veil = veil,
            .points_at = points_at,
            .points_at_tensors = points_at_tensors,
            .points_at_heads = points_at_heads,
            .pinned_by_page = pinned_by_page,
            .page_refused = page_refused,
            .watched = watched ? &*watched : nullptr,
            .wake_after = &wake_after};
  }
};

}  // namespace headwise
