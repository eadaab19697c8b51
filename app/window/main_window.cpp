#include "app/window/main_window.h"

#include <fmt/format.h>
#include <imgui_internal.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "app/content/stage_views.h"
#include "app/lesson/caption_panel.h"
#include "app/lesson/page_answers.h"
#include "app/lesson/page_place.h"
#include "app/session/selection.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/palette.h"
#include "app/window/page_turns.h"
#include "app/window/window_commands.h"
#include "app/window/window_files.h"
#include "app/window/window_moves.h"
#include "app/window/window_opening.h"
#include "app/window/window_pictures.h"
#include "app/window/window_training.h"

namespace headwise {
namespace {

constexpr double steps_shown_after_mouse = 2.5;  // seconds, on the full screen
constexpr double never = std::numeric_limits<double>::infinity();

// The keys that ImGui's menus use.
bool walks_menus(const KeyChord& chord) {
  constexpr Key keys[] = {Key::up,    Key::down, Key::left, Key::right,   Key::enter,    Key::keypad_enter,
                          Key::space, Key::home, Key::end,  Key::page_up, Key::page_down};
  return !chord.ctrl && !chord.alt && std::ranges::find(keys, chord.key) != std::end(keys);
}

}  // namespace

bool MainWindow::menu_open() const {
  return !state_.dialogs.any_open() &&
         ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

void MainWindow::take_keys() {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeySuper || state_.view.blank) return;
  const bool overlay = state_.dialogs.any_open(), menu = menu_open();
  // ImGui's navigation, which is on while a menu is open, has closed it by now.
  const bool menu_before = (io.ConfigFlags & ImGuiConfigFlags_NavEnableKeyboard) != 0;
  if ((menu || menu_before) && key_pressed(Key::escape, false)) {
    if (menu) ImGui::ClosePopupToLevel(0, true);  // Escape closes an open menu first
    return;
  }
  // The caption of a page that was just added takes the focus while this frame is drawn: what is typed is its
  // text already. A click that missed a field of the page's words, or one that has moved away under the
  // mouse, makes no commands of the sentence that is typed then.
  const PlaylistWalk& walk = state_.document.walk;
  FocusOrder caption;
  if (key_pressed(Key::escape, false) || key_pressed(Key::tab))
    state_.document.walk.typing_in_caption = false;
  const bool writes = walk.typing_in_caption && state_.view.focus.focused == 0;
  caption.focused = walk.page && walk.edits_words && (!walk.words_have_focus || writes) ? 1 : 0;
  caption.keys = FocusKeys::text;
  for (const CommandEntry& entry : command_entries()) {
    // What lies over the window has the keys to itself; the key that opened a sheet closes it again.
    const bool closes = (state_.dialogs.help.keys && entry.id == CommandId::show_keys) ||
                        (state_.dialogs.comparison.open && entry.id == CommandId::compare) ||
                        (state_.dialogs.full_size.open && entry.id == CommandId::full_size) ||
                        (state_.dialogs.training.open && entry.id == CommandId::train) ||
                        (state_.dialogs.heads.open && entry.id == CommandId::heads_of_model) ||
                        (state_.dialogs.palette.open && entry.id == CommandId::find_by_name);
    // A training is shown to a class, too.
    const bool enlarges = state_.dialogs.training.open && entry.id == CommandId::full_screen;
    if (overlay && !closes && !enlarges) continue;
    for (const KeyChord& first : entry.keys) {
      if (first.key == Key::none || first != intended_chord({first.key, io.KeyCtrl, io.KeyShift, io.KeyAlt}))
        continue;
      for (int argument = 0; argument < entry.key_count; ++argument) {
        const KeyChord chord{static_cast<Key>(static_cast<int>(first.key) + argument), first.ctrl,
                             first.shift, first.alt};
        if (!key_pressed(chord.key, entry.repeats) || focus_keeps(state_.view.focus, chord) ||
            focus_keeps(caption, chord))
          continue;
        if (menu && walks_menus(chord)) continue;
        if (unfold_by_key(state_, chord) || (!overlay && !menu && answer_by_key(state_, chord))) continue;
        if (!overlay && !menu && turn_page_by_key(state_, entry.id)) continue;
        perform(state_, {entry.id, argument});
      }
    }
  }
  if (!overlay && !menu) answer_by_character(state_);
  if (!overlay) unfold_by_other_keys(state_);
}

void MainWindow::show_presentation_steps(double seconds, double& wake_after) {
  WindowView& view = state_.view;
  const ImVec2 moved = ImGui::GetIO().MouseDelta;
  view.steps_visible_seconds = view.steps_shown > 0.0 ? view.steps_visible_seconds + seconds : 0.0;
  if (!view.full_screen)
    view.steps_shown = 0.0;
  else if (moved.x != 0.0f || moved.y != 0.0f)
    view.steps_shown = steps_shown_after_mouse;
  else
    view.steps_shown = std::max(0.0, view.steps_shown - seconds);
  if (view.steps_shown > 0.0) wake_after = std::min(wake_after, view.steps_shown);
}

void MainWindow::play(double seconds, double& wake_after) {
  WindowView& view = state_.view;
  if (!view.steps.playing || view.motion.running) return;
  const bool backward = view.selection.view == StageView::gradients;
  view.seconds_to_next_step -= seconds;
  if (view.seconds_to_next_step <= 0.0) {
    view.seconds_to_next_step = seconds_per_step;
    perform(state_, {backward ? CommandId::previous_step : CommandId::next_step});
  }
  const Step last = backward ? Step::inputs : Step::output;
  if (view.selection.step == last && !view.motion.running) view.steps.playing = false;
  if (view.steps.playing) wake_after = std::min(wake_after, view.seconds_to_next_step);
}

void MainWindow::take_dropped(const FrameInput& input) {
  if (input.dropped.empty()) return;
  open_file(state_, input.dropped.front());
  if (input.dropped.size() > 1)
    state_.view.notices.say(
        fmt::format("{} files were dropped; only the first was opened.", input.dropped.size()));
}

void MainWindow::take_results() {
  const ComputationPtr before = state_.document.session.computation();
  keep_own_edits(state_.document);
  if (state_.document.session.poll())
    state_.view.selection =
        selection_after(state_.view.selection, *before, *state_.document.session.computation());
  arrive(state_);
}

double MainWindow::take_input(const FrameInput& input) {
  WindowView& view = state_.view;
  double wake_after = never;
  begin_focus_frame(view.focus);
  if (state_.document.walk.page) view.presented_seconds += input.seconds + input.slept_seconds;
  // A click starts something new, even in the same field: what is typed after it is a separate undo step. So
  // does pressing a control with its key.
  const bool pressed = view.focus.keys != FocusKeys::text && press_key_pressed();
  if (pressed || ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state_.document.session.end_step();
  take_dropped(input);
  moving_ = advance_motion(view.motion, input.seconds, view.settings.motion_speed);
  observe_opening(view.opening, state_.document.session.computation());
  opening_ =
      advance_opening(view.opening, input.seconds * view.settings.motion_speed, view.settings.reduce_motion);
  take_keys();
  show_presentation_steps(input.seconds, wake_after);
  play(input.seconds, wake_after);
  // What a key has just requested, if it takes no longer than a frame.
  take_results();
  // Turning a page is for looking at it, not for painting on it.
  if (std::exchange(walked_page_, state_.document.walk.page) != state_.document.walk.page) stage_.brush = {};
  // Its own query is looked at and its pin, not what happens to lie under a mouse that rests.
  if (std::exchange(view.arrived, false)) {
    forget_queries(stage_);
    stage_.mouse_at_rest = ImGui::GetIO().MousePos;
  }
  if (const auto brush = std::exchange(view.wanted_brush, std::nullopt)) {
    stage_.brush = {};
    stage_.brush.shape = 1 + static_cast<int>(*brush);
  }
  // The motion shows how a step is computed.
  if (stage_view_entry(view.selection.view).motion == StepMotion::skipped) skip_motion(view.motion);
  if (input.close_requested) state_.quit = true;
  return wake_after;
}

void MainWindow::begin_ground(const WindowLayout& layout, const Fonts& fonts, float scale) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0f);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, menu_padding(layout, fonts, scale));
  ImGui::PushStyleColor(ImGuiCol_MenuBarBg, 0);
  ImGui::Begin(
      "headwise", nullptr,
      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
          ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNav |
          (state_.view.stage_only || opening_covers(state_.view.opening) ? 0 : ImGuiWindowFlags_MenuBar) |
          ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(4);
  grounds_.clear();
}

void MainWindow::draw_window_notices(const WidgetContext& widgets, const WindowLayout& layout, double seconds) {
  WindowView& view = state_.view;
  // An edit in the setup that has no trace is reported there while it is typed; afterwards, and for any other
  // edit, above the stage.
  const bool typed = !view.setup.edited_row.empty() && focused_part(view.focus) == setup_part;
  const std::string lasting = typed ? "" : state_.document.session.error();
  if (lasting != logged_) {
    if (!lasting.empty()) view.notices.log.write(lasting);
    logged_ = lasting;
  }
  const ComputationPtr& now = state_.document.session.computation();
  if (now != reported_ && now->shortened) view.notices.say(now->shortened->note);
  reported_ = now;
  draw_focus_ring(widgets);
  // The caption says why a page cannot be shown.
  const std::string shown = state_.document.walk.refused() ? "" : lasting;
  WidgetContext without_focus = widgets;
  without_focus.focus = nullptr;
  const std::optional<bool> restores =
      draw_notices(without_focus, view.notices, shown, area_of_notices(layout), seconds, !view.full_screen);
  if (restores) *restores ? restore_offered(state_) : discard_offered(state_);
}

void MainWindow::take_in_changes(const Before& before) {
  WindowView& view = state_.view;
  const ImGuiID focused = view.focus.focused;
  if (focused != before.focused || (focused == 0 && !ImGui::IsAnyMouseDown()))
    state_.document.session.end_step();
  if (!state_.clipboard.empty()) {
    ImGui::SetClipboardText(state_.clipboard.c_str());
    state_.clipboard.clear();
  }
  if (view.selection.step != before.selection.step) view.opened_on_result = false;
  if (view.settings.first_steps && !view.opening.shown) {
    view.first_steps.observe(
        before.selection, view.selection,
        before.trace != state_.document.session.trace_ptr() && view.setup.edited_row == "setup/text");
    if (view.first_steps.all()) finish_first_steps(view);
  }
  // On entering the comparison with nothing pinned, there is still something to compare with.
  const bool came = view.selection.view == StageView::compare && before.selection.view != StageView::compare;
  if (came && !state_.document.comparison_targets.pinned() && view.selection.compare_with == CompareWith::pinned)
    view.selection.compare_with = usual_comparison;
  // ImGui's own navigation is used for its menus only: the arrow keys belong to the steps.
  ImGuiIO& io = ImGui::GetIO();
  io.ConfigFlags &= ~ImGuiConfigFlags_NavEnableKeyboard;
  // Between two menus too: it would take a key still held for a new press.
  if (menu_open() || view.menu_to_open >= 0) io.ConfigFlags |= ImGuiConfigFlags_NavEnableKeyboard;
}

FrameResult MainWindow::result_of(const FrameInput& input, const Before& before, const Palette& palette,
                                  double wake_after) {
  WindowView& view = state_.view;
  const bool changed = before.trace != state_.document.session.trace_ptr() ||
                       !(before.selection == view.selection) || !(before.settings == view.settings) ||
                       before.focused != view.focus.focused || view.pointing != view.pointed;
  view.pointed = view.pointing;
  FrameResult result;
  result.animating = changed || moving_ || opening_ || view.recording || view.motion.running;
  result.wake_after = wake_after;
  result.quit = state_.quit;
  result.font_scale = view.settings.font_scale * palette.text_size;
  if (view.stage_only) {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    const double usual = input.content_scale;
    result.font_scale *= static_cast<float>(stage_only_scale(size.x, size.y, usual) / usual);
  }
  result.full_screen = view.full_screen;
  result.ground = im_vec4(palette.window);
  result.grounds = grounds_;
  result.callbacks_as_before = heatmaps_.as_before();
  return result;
}

FrameResult MainWindow::frame(const FrameInput& input, const Fonts& fonts, float scale) {
  WindowDocument& document = state_.document;
  WindowView& view = state_.view;
  const Before before{document.session.trace_ptr(), view.selection, view.settings, view.focus.focused};
  const bool was_blank = view.blank;
  view.pointing = {};
  take_results();
  apply_style(palette_of(view.settings.theme), scale);
  double wake_after = take_input(input);

  // A control that is asked for by name is shown with its panel.
  if (!view.setup.wanted_row.empty()) view.unfolded = SidePanel::setup;
  // The caption says how far the page is.
  if (document.walk.arrival && document.session.computing())
    wake_after = std::min(wake_after, seconds_between_words);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const bool filmstrip = shows_filmstrip(view.settings, document.walk);
  const double beside_filmstrip = size.x - (filmstrip ? filmstrip_room(size.x, scale) : 0.0);
  const WindowLayout layout =
      window_layout(size.x, size.y, scale,
                    {.stage_only = view.stage_only,
                     .presentation = view.full_screen,
                     .steps_over = view.steps_shown > 0.0 || focused_part(view.focus) == steps_part,
                     .caption_height = caption_height(fonts, scale, beside_filmstrip, size.y, document.walk),
                     .writes_caption = document.walk.edits_words,
                     .unfolded = view.unfolded,
                     .training = stands_in_training(state_),
                     .filmstrip = filmstrip,
                     .notes = view.notes && document.walk.page.has_value()});
  const Palette& palette = palette_of(view.settings.theme);
  begin_ground(layout, fonts, scale);
  const bool covered = opening_covers(view.opening), blank = view.blank;
  if (blank)
    draw_blank(was_blank);
  else if (covered)
    draw_opening(fonts, scale, wake_after);
  else
    draw_panels(layout, fonts, scale, wake_after);
  // A number dragged too far stays at the last value that has a result.
  if (view.focus.dragged != 0 && ImGui::IsMouseDragging(ImGuiMouseButton_Left) &&
      !document.session.error().empty())
    document.session.undo();
  if (!blank) draw_overlays(fonts, scale, wake_after);
  if (document.walk.given.done) arrive(state_);
  if (view.opening.shown && !covered && !blank)
    draw_opening_over(state_, {palette, fonts, scale, nullptr, &wake_after}, size, stage_.one_head);
  record_pictures(state_);
  ImGui::End();
  if (!blank) draw_window_notices({palette, fonts, scale, &view.focus, &wake_after}, layout, input.seconds);
  take_in_changes(before);
  FrameResult result = result_of(input, before, palette, wake_after);
  std::string error;
  result.write_after = document.backup.observe(document, error);
  if (!error.empty()) view.notices.complain("Unsaved work is not backed up: " + error);
  return result;
}

}  // namespace headwise
