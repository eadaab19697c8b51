#include "app/window/window_moves.h"

#include <algorithm>

#include "app/content/stage_views.h"
#include "app/window/motion_recording.h"

namespace headwise {

void go_to_step(WindowState& window, int step) {
  const Step from = window.selection.step;
  window.selection.step = static_cast<Step>(std::clamp(step, 0, step_count - 1));
  if (window.selection.step != from) begin_motion(window.motion, from, window.selection.step);
  window.selection.tensor.reset();
}

void go_to_head(WindowState& window, Index head) {
  const Index heads = window.session.trace().options.num_heads;
  if (head < 0 || head >= heads) return;
  window.selection.head = head;
}

void go_to_next_view(WindowState& window) {
  StageView& view = window.selection.view;
  view = next_view(window.session.scenario(), view);
}

void play(WindowState& window) {
  window.steps.playing = !window.steps.playing;
  window.motion.running = window.steps.playing && window.motion.progress < 1.0;
  window.seconds_to_next_step = window.motion.running ? seconds_per_step : seconds_to_first_step;
  // Gradients are walked from the output back.
  const bool backward = window.selection.view == StageView::gradients;
  const Step last = backward ? Step::inputs : Step::output;
  const bool is_behind = window.selection.step == last || (window.opened_on_result && !backward);
  if (window.steps.playing && is_behind && !window.motion.running)
    go_to_step(window, backward ? step_count - 1 : 0);
}

void let_go(WindowState& window) {
  Selection& selection = window.selection;
  if (window.recording) {
    window.notices.say("Cancelled. " + window.recording->path() + " was not written.");
    window.recording.reset();
  } else if (window.session.waiting().told() && window.session.cancel()) {
    release_focus(window.focus);
  } else if ((wants_gradients(selection) && window.gradients.waiting().told()) ||
             (selection.view == StageView::compare && window.other_sides.waiting().told()) ||
             (selection.view == StageView::prediction && window.predictions.waiting().told())) {
    selection.view = StageView::one_head;  // a view that nobody looks at is not computed
  } else if (window.focus.focused != 0) {
    release_focus(window.focus);
    // A field that is left shows what there is a result for.
    if (!window.session.error().empty()) window.session.undo();
  } else if (window.steps.playing) {
    window.steps.playing = false;
  } else if (window.notices.dismiss_all()) {
  } else if (!window.session.error().empty()) {
    window.session.undo();
  } else if (window.walk.page && (!selection.pinned || selection.pinned == window.walk.shown()->pin)) {
    leave_walk(window);  // what the page pins is not the person's to let go of first
  } else if (selection.pinned) {
    selection.pinned.reset();
    window.trail.clear();
  } else if (selection.spotlight) {
    selection.spotlight = false;
  } else if (selection.tensor) {
    selection.tensor.reset();
  } else if (window.stage_only) {
    window.full_screen = window.stage_only = false;
  }
}

}  // namespace headwise
