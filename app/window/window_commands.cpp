#include "app/window/window_commands.h"
#include "app/window/page_answers.h"

#include "app/session/followed_pin.h"
#include "app/window/command_handlers.h"
#include "app/window/window_files.h"
#include "app/window/window_moves.h"
#include "app/window/window_settings.h"
#include "app/window/window_state.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {

void perform(WindowState& window, CommandCall call) {
  if (const auto tried = suggestion_of(call.id)) remember_suggestion(window.view, *tried);
  handle_command(window, call);
  window.view.selection = selection_within(window.view.selection, window.document.session.trace());
}

void perform(WindowState& window, const PaletteEntry& entry) {
  // The palette's field is gone: Escape chosen by name refers to what lies behind it.
  release_focus(window.view.focus);
  if (const auto* call = std::get_if<CommandCall>(&entry.target)) perform(window, *call);
  if (const auto* step = std::get_if<Step>(&entry.target)) go_to_step(window.view, static_cast<int>(*step));
  if (const auto* view = std::get_if<StageView>(&entry.target)) window.view.selection.view = *view;
  if (const auto* preset = std::get_if<PresetName>(&entry.target)) {
    window.view.setup.edited_row.clear();
    window.document.session.open(preset_scenario(preset->name), "open " + preset->name);
    window.document.scenario_path.clear();
    window.view.selection = selection_within(look_at(preset_named(preset->name), window.view.selection),
                                             window.document.session.trace());
  }
  if (const auto* brush = std::get_if<BrushShape>(&entry.target)) {
    if (const std::string refusal = painting_refusal(window.document.session.trace()); !refusal.empty())
      window.view.notices.say(refusal);
    go_to_step(window.view, static_cast<int>(Step::mask));
    window.view.selection.view = StageView::one_head;  // the one that supports painting
    window.view.wanted_brush = *brush;
  }
  if (const auto* setting = std::get_if<SettingId>(&entry.target)) {
    window.view.full_screen = window.view.stage_only = false;  // the setup is hidden there
    window.view.setup.wanted_row = setting->row;
  }
  if (const auto* place = std::get_if<DocPlace>(&entry.target)) {
    perform(window, CommandCall{CommandId::documentation});
    window.dialogs.docs.wanted = *place;
  }
  if (const auto* lesson = std::get_if<LessonPage>(&entry.target))
    visit_lesson(window, lesson_playlist(lesson->lesson), lesson->page);
}

void take_action(WindowState& window, const PanelAction& action, bool from_setup) {
  WindowDocument& document = window.document;
  WindowView& view = window.view;
  const ComputationPtr before = document.session.computation();
  if (action.scenario) {
    if (!from_setup) view.setup.edited_row.clear();
    document.session.edit(*action.scenario, action.edit_label, action.edit_continues);
    if (action.opens) {
      document.scenario_path.clear();
      view.trail.clear();
    }
  }
  if (action.head && answer_by_head(window, *action.head)) return;
  if (action.selection) {
    const Step from = view.selection.step;
    view.trail.left(view.selection, *action.selection, action.follows_link);
    if (answer_by_pointing(window, *action.selection)) return;
    view.selection = *action.selection;
    if (view.selection.step != from) begin_motion(view.motion, from, view.selection.step);
  }
  if (action.lesson) visit_lesson(window, lesson_playlist(action.lesson->lesson), action.lesson->page);
  if (action.page) show_page(window, *action.page);
  if (action.timeline) {
    const TimelinePlace place = timeline_place(*action.timeline);
    view.selection.step = place.step;
    view.selection.tensor.reset();
    view.motion = {place.progress, false};
    view.steps.playing = false;
    remember_suggestion(view, Suggestion::timeline);
  }
  if (action.selection) {
    view.selection = selection_within(view.selection, document.session.trace());
  } else if (action.scenario) {
    view.selection = selection_after(view.selection, *before, *document.session.computation());
  }
  if (action.file) open_file(window, *action.file);
  if (action.command) perform(window, {*action.command});
}

}  // namespace headwise
