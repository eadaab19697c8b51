#include "app/window/window_opening.h"

#include <fmt/format.h>
#include <imgui.h>

#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "app/content/motion.h"
#include "app/platform/fonts.h"
#include "app/stage/views.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "app/window/window_moves.h"
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
  if (!opening_version(*subject, session.scenario())) {
    window.view.setup.forget_scenario();
    session.open(subject->scenario, "show the intro");
  }
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

namespace {

constexpr const char* introduction = "See multi-head attention happen:";
constexpr const char* ask_hint = "questions: Help";
constexpr const char* training_hint = "watch heads learn: N";
constexpr const char* things[] = {"press Space to watch it happen", "point at a number", "click to pin it",
                                  "type your own sentence"};
constexpr float gap_units = 16.0f;

}  // namespace

void FirstSteps::observe(const Selection& before, const Selection& now, bool sentence) {
  stepped = stepped || before.step != now.step;
  pointed = pointed || now.hovered.has_value();
  pinned = pinned || (now.pinned && now.pinned != before.pinned);
  typed = typed || sentence;
}

namespace {

float hints_width(const PanelContext& context) {
  ImFont* font = context.fonts.small;
  const float gap = gap_units * context.scale;
  float width = -gap;
  for (const char* thing : things) width += width_of(font, "✓ ") + width_of(font, thing) + gap;
  return width;
}

}  // namespace

float first_steps_width(const PanelContext& context) {
  return hints_width(context) + gap_units * context.scale + width_of(context.fonts.small, ask_hint);
}

void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y) {
  const bool is_done[] = {done.stepped, done.pointed, done.pinned, done.typed};
  ImFont* font = context.fonts.small;
  const Painter paint = context.painter();
  const float gap = gap_units * context.scale, room = right - left;
  float wanted = hints_width(context);
  if (wanted > room) return;
  const bool with_questions = first_steps_width(context) <= room;
  if (with_questions) wanted = first_steps_width(context);
  const float training = gap + width_of(font, training_hint);
  const bool with_training = with_questions && wanted + training <= room;
  if (with_training) wanted += training;
  const float heading = width_of(font, introduction) + gap;
  const bool with_heading = heading + wanted <= room;
  float x = std::round(left + 0.5f * (room - wanted - (with_heading ? heading : 0.0f)));
  const float top = std::round(y - 0.5f * font->FontSize);
  const auto put = [&](const char* text, Rgba8 ink) { x = paint.text(font, {x, top}, ink, text).max.x; };
  ui_probe("first_steps", {x, top}, {x + wanted, top + font->FontSize});
  if (with_heading) {
    put(introduction, context.palette.text_dim);
    x += gap;
  }
  for (std::size_t i = 0; i < std::size(things); ++i) {
    const Rgba8 ink = is_done[i] ? context.palette.text_dim : context.palette.text;
    paint.text(font, {x, top}, ink, is_done[i] ? "✓" : "○");
    x += width_of(font, "✓ ");
    put(things[i], ink);
    x += gap;
  }
  if (with_questions) {
    ui_probe("first_steps/questions", {x, top}, {x + width_of(font, ask_hint), top + font->FontSize});
    put(ask_hint, context.palette.text_dim);
  }
  if (with_training) {
    x += gap;
    ui_probe("first_steps/training", {x, top}, {x + width_of(font, training_hint), top + font->FontSize});
    put(training_hint, context.palette.text_dim);
  }
}

void draw_suggestion(const PanelContext& context, ShownSuggestion& shown, float left, float right, float y) {
  if (!shown.suggestion) return;
  const WidgetContext widgets = context.widgets();
  const std::string text =
      "Try next: " + std::string(suggestion_entries()[static_cast<std::size_t>(*shown.suggestion)].text);
  constexpr const char* dismiss = "✕";
  const float height = widgets.px(26), padding = 2 * widgets.px(12), gap = widgets.px(2);
  const float wanted =
      width_of(context.fonts.small, text) + padding + gap + width_of(context.fonts.small, dismiss) + padding;
  if (wanted > right - left) return;
  const ImVec2 before = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({std::round(0.5f * (left + right - wanted)), std::round(y - 0.5f * height)});
  shown.pressed = text_button(widgets, "suggestion", text, ButtonLook::plain);
  ui_probe_item("suggestion");
  ImGui::SetCursorScreenPos({ImGui::GetItemRectMax().x + gap, ImGui::GetItemRectMin().y});
  shown.dismissed = text_button(widgets, "suggestion/dismiss", dismiss, ButtonLook::plain);
  named_item(widgets, "suggestion/dismiss", "do not suggest this again");
  ImGui::SetCursorScreenPos(before);
}

}  // namespace headwise
