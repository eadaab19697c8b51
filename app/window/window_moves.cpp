#include "app/window/window_moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/content/stage_content.h"
#include "app/content/stage_views.h"
#include "app/lesson/page_text.h"
#include "app/lesson/playlist_walk.h"
#include "app/session/commands.h"
#include "app/window/page_edits.h"
#include "app/window/page_turns.h"
#include "app/window/slides.h"
#include "app/window/window_state.h"
#include "app/window/window_training.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

// After pressing play, something should happen soon.
constexpr double seconds_to_first_step = 0.6;

}  // namespace

void go_to_step(WindowState& window, Step step) {
  WindowView& view = window.view;
  const std::vector<Step> shown = shown_steps(window.document.session.trace().options);
  const Step from = view.selection.step;
  view.selection.step = std::ranges::count(shown, step) > 0 ? step : Step::split_heads;
  if (view.selection.step != from) begin_motion(view.motion, shown, from, view.selection.step);
  view.selection.tensor.reset();
}

void step_by(WindowState& window, int by) {
  const std::vector<Step> shown = shown_steps(window.document.session.trace().options);
  const auto to = static_cast<std::ptrdiff_t>(place_of_step(shown, window.view.selection.step)) + by;
  go_to_step(window, shown[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(to, 0, std::ssize(shown) - 1))]);
}

void go_to_head(WindowState& window, Index head) {
  const Trace& trace = window.document.session.trace();
  const Index heads = trace.options.num_heads;
  if (head < 0 || head >= heads)
    return window.view.notices.say(
        heads == 1 ? "There is only one head."
        : head < 0 ? "Head 0 is the first head."
                   : fmt::format("Head {} is the last head: there is no head {}.", heads - 1, head));
  if (asks_for_head(window.document.walk) && !shows_one_head(trace, window.view.selection))
    return window.view.notices.say(
        "This page asks for a head: its digit, or its button beside the question, answers.");
  window.view.selection.head = head;
}

void go_to_next_view(WindowState& window) {
  StageView& view = window.view.selection.view;
  view = next_view(window.document.session.scenario(), view);
}

void play(WindowState& window) {
  WindowView& view = window.view;
  view.steps.playing = !view.steps.playing;
  view.motion.running = view.steps.playing && view.motion.progress < 1.0;
  view.seconds_to_next_step = view.motion.running ? seconds_per_step : seconds_to_first_step;
  // Gradients are walked backwards from the output.
  const bool backward = view.selection.view == StageView::gradients;
  const Step last = backward ? Step::inputs : Step::output;
  const bool is_behind = view.selection.step == last || (view.opened_on_result && !backward);
  if (view.steps.playing && is_behind && !view.motion.running)
    go_to_step(window, backward ? Step::output : Step::inputs);
}

void unpin(WindowState& window) {
  WindowDocument& document = window.document;
  WindowView& view = window.view;
  Selection& selection = view.selection;
  if (view.recording) {
    view.notices.say("Cancelled. " + view.recording->path() + " was not written.");
    view.recording.reset();
  } else if ((document.session.awaited() || document.session.waiting().is_long()) && give_up_page(window)) {
    release_focus(view.focus);
  } else if ((wants_gradients(selection) && document.gradients.waiting().is_long()) ||
             (selection.view == StageView::compare && document.comparison_targets.waiting().is_long()) ||
             ((selection.view == StageView::prediction || selection.view == StageView::head_rows) &&
              document.predictions.waiting().is_long())) {
    selection.view = StageView::one_head;  // a view that is not shown is not computed
  } else if (view.focus.focused != 0) {
    release_focus(view.focus);
    if (view.full_screen) view.notices.dismiss_all();  // on what its keys did
    // A field that loses the focus shows the value that has a result.
    drop_refused_edit(window);
  } else if (view.full_screen && is_inspecting(window) && resume_page(window)) {  // to the page, still presented
  } else if (view.full_screen) {
    view.full_screen = view.stage_only = false;
  } else if (view.steps.playing) {
    view.steps.playing = false;
  } else if (view.notices.dismiss_all()) {
  } else if (drop_refused_edit(window)) {
  } else if (document.walk.page && view.stage_only) {
    view.stage_only = false;
  } else if (document.walk.page && (!selection.pinned || is_pinned_by_page(document.walk, selection))) {
    step_out(window);  // what the page pins is not for the user to unpin first
  } else if (selection.pinned) {
    selection.pinned.reset();
    view.trail.clear();
  } else if (is_inspecting(window) && resume_page(window)) {
  } else if (selection.spotlight) {
    selection.spotlight = false;
  } else if (selection.tensor) {
    selection.tensor.reset();
  } else if (view.stage_only) {
    view.stage_only = false;
  }
}

bool turn_page_by_key(WindowState& window, CommandId id) {
  const PlaylistWalk& walk = window.document.walk;
  if (!window.view.full_screen || !walk.page || walk.edits_words) return false;
  const std::size_t last = walk.playlist.pages.size() - 1;
  switch (id) {
    case CommandId::next_step:
    case CommandId::play:
      walk_pages(window, 1);
      return true;
    case CommandId::previous_step:
      walk_pages(window, -1);
      return true;
    case CommandId::first_step:
    case CommandId::last_step:
      if (const std::size_t to = id == CommandId::first_step ? 0 : last; to != *walk.page)
        show_page(window, to, entry_towards(walk, to));
      else
        restore_page(window);  // its stage may have been left
      return true;
    default:
      return false;
  }
}

namespace {

// Changes them in the window and in their file.
template <class Change>
void change_settings(WindowView& view, Change change) {
  change(view.settings);
  try {
    save_settings(view.settings_file, view.settings);
  } catch (const Error& error) {
    view.notices.complain(error.what());
  }
}

void change_motion_speed(WindowView& view, float speed) {
  change_settings(view, [&](Settings& settings) {
    settings.motion_speed = std::clamp(speed, Settings::slowest_motion, Settings::fastest_motion);
  });
}

}  // namespace

void scale_motion(WindowView& view, float factor) {
  change_motion_speed(view, view.settings.motion_speed * factor);
  view.notices.say(fmt::format("Motion at {:g} × normal speed", view.settings.motion_speed));
}

void set_motion_speed(WindowView& view, float speed) {
  if (speed != view.settings.motion_speed) change_motion_speed(view, speed);
}

void toggle_setting(WindowView& view, bool Settings::*setting) {
  change_settings(view, [&](Settings& settings) { settings.*setting = !(settings.*setting); });
}

void toggle_theme(WindowView& view) {
  constexpr std::array words{"Theme: light.", "Theme: dark.", "Theme: for a projector."};  // by Theme
  const auto next = (static_cast<std::size_t>(view.settings.theme) + 2) % words.size();
  change_settings(view, [&](Settings& settings) { settings.theme = static_cast<Theme>(next); });
  view.notices.say(words[next]);
}

void scale_text(WindowView& view, float scale) {
  change_settings(view, [&](Settings& settings) {
    settings.font_scale = std::clamp(scale, Settings::smallest_font_scale, Settings::largest_font_scale);
  });
}

void remember_opening_seen(WindowView& view) {
  if (view.settings.opening_scene) toggle_setting(view, &Settings::opening_scene);
}

void remember_suggestion(WindowView& view, Suggestion suggestion) {
  const auto at = static_cast<std::size_t>(suggestion);
  if (!view.settings.suggestions_done[at])
    change_settings(view, [&](Settings& settings) { settings.suggestions_done.set(at); });
}

void begin_first_steps(WindowView& view) {
  view.first_steps = {};
  change_settings(view, [](Settings& settings) {
    settings.first_steps = true;
    settings.suggestions_done.reset();
  });
}

void finish_first_steps(WindowView& view) {
  change_settings(view, [](Settings& settings) { settings.first_steps = false; });
}

}  // namespace headwise
