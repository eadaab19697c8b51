#include "app/window/window_opening.h"

#include <fmt/format.h>

#include <utility>

#include "app/content/motion.h"
#include "app/stage/views.h"
#include "app/widgets/focus_order.h"
#include "app/window/window_settings.h"
#include "app/window/window_state.h"

namespace headwise {
namespace {

constexpr const char* text_row = "setup/text";

// The cell that the thick arc stands for.
Selection place_of(const OpeningState& opening, Selection selection) {
  const SwitchingHead& found = opening.subject->found;
  selection.step = Step::softmax;
  selection.view = StageView::one_head;
  selection.batch = 0;
  selection.head = found.head;
  selection.tensor.reset();
  selection.hovered.reset();
  if (opening.row)
    selection.pinned =
        CellRef{{TensorId::attn_weights},
                {0, found.head, found.query, opening.row->words[opening.row->strongest].position}};
  return selection;
}

void swap_word(WindowState& window) {
  const OpeningState& opening = window.view.opening;
  Session& session = window.document.session;
  session.edit(with_other_version(*opening.subject, session.scenario()),
               fmt::format("replace “{}” with “{}”", opening.row->words[opening.row->swapped].text,
                           opening.row->other_word));
  session.end_step();
}

// The map of attention weights on the stage, if that is what it shows.
std::optional<OpeningTarget> target_on(const OneHeadState& stage, const OpeningState& opening, Theme theme) {
  if (!stage.shown || stage.shown->transposed || stage.shown->name != TensorName{TensorId::attn_weights} ||
      stage.shown->plane.rows <= opening.subject->found.query)
    return std::nullopt;
  return OpeningTarget{stage.shown->plane, opening.subject->found.query, theme, stage.shown->color_map,
                       stage.shown->range};
}

}  // namespace

bool opening_covers(const OpeningState& opening) {
  return opening.shown && !opening.unfolding;
}

void show_opening(WindowState& window) {
  std::optional<OpeningSubject> subject = opening_subject();
  if (!subject)
    return window.view.notices.say("There is no intro: no head of the model distinguishes the words.");
  Session& session = window.document.session;
  if (!opening_version(*subject, session.scenario())) session.open(subject->scenario, "show the intro");
  begin_opening(window.view.opening, *std::move(subject));
  window.view.steps.playing = false;
}

void unfold(WindowState& window) {
  WindowView& view = window.view;
  if (!opening_covers(view.opening)) return;
  unfold_opening(view.opening);
  view.selection = selection_within(place_of(view.opening, view.selection), window.document.session.trace());
  view.opened_on_result = true;
  skip_motion(view.motion);
  release_focus(view.focus);
  remember_opening_seen(view);
}

bool unfold_by_key(WindowState& window, KeyChord chord) {
  if (!opening_covers(window.view.opening)) return false;
  unfold(window);
  return chord.key == Key::enter || chord.key == Key::keypad_enter || chord.key == Key::escape;
}

void unfold_by_other_keys(WindowState& window) {
  constexpr int first = 32, last = static_cast<int>(Key::keypad_add), first_lock = 280, last_lock = 283;
  for (int key = first; key <= last && opening_covers(window.view.opening); ++key) {
    const bool lock = key >= first_lock && key <= last_lock;  // Caps Lock and the like
    const KeyChord chord{static_cast<Key>(key)};
    if (lock || chord.key == Key::tab || focus_keeps(window.view.focus, chord)) continue;
    if (key_pressed(chord.key, false)) unfold(window);
  }
}

void draw_opening_scene(WindowState& window, const WidgetContext& context, ImVec2 size) {
  const OpeningAction action = draw_opening(context, window.view.opening, size);
  if (action.swap) swap_word(window);
  if (action.unfold || action.own_sentence) unfold(window);
  if (action.own_sentence) {
    window.view.setup.wanted_row = text_row;
    window.view.setup.wanted_whole = true;
  }
}

void draw_opening_over(const WindowState& window, const WidgetContext& context, ImVec2 size,
                       const OneHeadState& stage) {
  const WindowView& view = window.view;
  draw_unfolding(
      context, view.opening, size,
      view.settings.reduce_motion ? std::nullopt : target_on(stage, view.opening, view.settings.theme));
}

}  // namespace headwise
