#include "app/window/window_commands.h"

#include "app/session/followed_pin.h"
#include "app/window/command_handlers.h"
#include "app/window/window_files.h"
#include "app/window/window_moves.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {

void perform(WindowState& window, CommandCall call) {
  handle_command(window, call);
  window.selection = selection_within(window.selection, window.session.trace());
}

void perform(WindowState& window, const PaletteEntry& entry) {
  // The field of the palette is gone: Escape by name means what lies behind it.
  release_focus(window.focus);
  if (const auto* call = std::get_if<CommandCall>(&entry.target)) perform(window, *call);
  if (const auto* step = std::get_if<Step>(&entry.target)) go_to_step(window, static_cast<int>(*step));
  if (const auto* view = std::get_if<StageView>(&entry.target)) window.selection.view = *view;
  if (const auto* preset = std::get_if<PresetName>(&entry.target)) {
    window.setup.edited_row.clear();
    window.session.open(preset_scenario(preset->name), "open " + preset->name);
    window.selection =
        selection_within(look_at(preset_named(preset->name), window.selection), window.session.trace());
  }
  if (const auto* brush = std::get_if<BrushShape>(&entry.target)) {
    if (const std::string refusal = painting_refusal(window.session.trace()); !refusal.empty())
      window.notices.say(refusal);
    go_to_step(window, static_cast<int>(Step::mask));
    window.selection.view = StageView::one_head;  // the one that can be painted on
    window.wanted_brush = *brush;
  }
  if (const auto* setting = std::get_if<SettingId>(&entry.target)) {
    window.full_screen = window.stage_only = false;  // the setup is not seen there
    window.setup.wanted_row = setting->row;
  }
  if (const auto* lesson = std::get_if<LessonPage>(&entry.target))
    start_walk(window, lesson_playlist(lesson->lesson), {}, lesson->page);
}

void take_action(WindowState& window, const PanelAction& action, bool from_setup) {
  const ComputationPtr before = window.session.computation();
  if (action.scenario) {
    if (!from_setup) window.setup.edited_row.clear();
    window.session.edit(*action.scenario, action.edit_label, action.edit_continues);
  }
  if (action.selection) {
    const Step from = window.selection.step;
    window.trail.left(window.selection, *action.selection, action.follows_link);
    window.selection = *action.selection;
    if (window.selection.step != from) begin_motion(window.motion, from, window.selection.step);
  }
  if (action.lesson) start_walk(window, lesson_playlist(action.lesson->lesson), {}, action.lesson->page);
  if (action.timeline) {
    const TimelinePlace place = timeline_place(*action.timeline);
    window.selection.step = place.step;
    window.selection.tensor.reset();
    window.motion = {place.progress, false};
    window.steps.playing = false;
  }
  if (action.selection) {
    window.selection = selection_within(window.selection, window.session.trace());
  } else if (action.scenario) {
    window.selection = selection_after(window.selection, *before, *window.session.computation());
  }
  if (action.file) open_file(window, *action.file);
  if (action.command) perform(window, {*action.command});
}

}  // namespace headwise
