#include "app/window/window_commands.h"

#include <fmt/format.h>

#include "app/session/followed_pin.h"
#include "app/session/frozen_heads.h"
#include "app/session/head_gains.h"
#include "app/window/playlist_making.h"
#include "app/window/window_copies.h"
#include "app/window/window_files.h"
#include "app/window/window_moves.h"
#include "app/window/window_pictures.h"
#include "app/window/window_settings.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

void edit(WindowState& window, const Scenario& scenario, const std::string& label) {
  window.setup.edited_row.clear();
  window.session.edit(scenario, label);
}

void forget(WindowState& window, bool only_painted) {
  Scenario edited = window.session.scenario();
  const std::size_t forgotten = std::erase_if(
      edited.edits, [&](const CellEdit& each) { return !only_painted || each.tensor == "attn_mask"; });
  if (forgotten == 0)
    return window.notices.say(only_painted ? "No pair of the mask is painted." : "There are no edits by hand.");
  edit(window, edited, only_painted ? "clear the painted mask" : "discard edits by hand");
}

void show_log(WindowState& window) {
  const std::string& path = window.notices.log.path();
  if (path.empty()) return window.notices.say("There is no log: neither XDG_STATE_HOME nor HOME is set.");
  window.clipboard = path;
  window.notices.say(fmt::format("Errors are logged in {} (path copied)", path));
}

}  // namespace

void perform(WindowState& window, CommandCall call) {
  const ComputationPtr before = window.session.computation();
  Selection& selection = window.selection;
  const Scenario& scenario = window.session.scenario();
  const int step = static_cast<int>(selection.step);
  switch (call.id) {
    case CommandId::open_scenario:
      ask_for_scenario(window, FileDialogPurpose::open_scenario);
      break;
    case CommandId::save_scenario:
      ask_for_scenario(window, FileDialogPurpose::save_scenario);
      break;
    case CommandId::export_picture:
      ask_for_export(window);
      break;
    case CommandId::save_program:
      ask_for_program(window);
      break;
    case CommandId::save_stage_picture:
      ask_for_stage_picture(window);
      break;
    case CommandId::save_motion:
      ask_for_motion(window);
      break;
    case CommandId::copy_map_image:
      copy_map_image(window);
      break;
    case CommandId::copy_stage_image:
      copy_stage_image(window);
      break;
    case CommandId::save_playlist:
      ask_for_playlist(window);
      break;
    case CommandId::reopen_scenario:
      reopen_scenario(window);
      break;
    case CommandId::quit:
      window.quit = true;
      break;
    case CommandId::undo:
      window.setup.edited_row.clear();
      window.session.undo();
      selection = selection_after(selection, *before, *window.session.computation());
      break;
    case CommandId::redo:
      window.setup.edited_row.clear();
      window.session.redo();
      selection = selection_after(selection, *before, *window.session.computation());
      break;
    case CommandId::copy_value:
      copy_value(window);
      break;
    case CommandId::copy_table:
      copy_map(window, MapText::table);
      break;
    case CommandId::copy_array:
      copy_map(window, MapText::numpy_array);
      break;
    case CommandId::copy_mask:
      copy_mask(window);
      break;
    case CommandId::copy_program:
      copy_program(window);
      break;
    case CommandId::go_back:
      if (const std::optional<Selection> place = window.trail.back()) selection = *place;
      skip_motion(window.motion);
      break;
    case CommandId::let_go:
      let_go(window);
      break;
    case CommandId::toggle_causal: {
      Scenario edited = scenario;
      edited.mask.is_causal = !edited.mask.is_causal;
      edit(window, edited, edited.mask.is_causal ? "causal mask on" : "causal mask off");
      break;
    }
    case CommandId::toggle_mute: {
      const HeadEdit muted = toggle_mute(scenario, selection.head);
      edit(window, muted.scenario, muted.label);
      break;
    }
    case CommandId::toggle_solo: {
      const HeadEdit solo = toggle_solo(scenario, selection.head);
      edit(window, solo.scenario, solo.label);
      break;
    }
    case CommandId::toggle_freeze: {
      const HeadEdit frozen = toggle_freeze(scenario, window.session.trace(), selection.head);
      if (frozen.label.empty())
        window.notices.say("This head cannot be frozen yet: its weights are still being computed.");
      else
        edit(window, frozen.scenario, frozen.label);
      break;
    }
    case CommandId::clear_mask:
      forget(window, true);
      break;
    case CommandId::forget_edits:
      forget(window, false);
      break;
    case CommandId::look_at_head:
      go_to_head(window, call.argument);
      break;
    case CommandId::next_head:
      go_to_head(window, selection.head + 1);
      break;
    case CommandId::previous_head:
      go_to_head(window, selection.head - 1);
      break;
    case CommandId::next_step:
      go_to_step(window, step + 1);
      break;
    case CommandId::previous_step:
      go_to_step(window, step - 1);
      break;
    case CommandId::first_step:
      go_to_step(window, 0);
      break;
    case CommandId::last_step:
      go_to_step(window, step_count - 1);
      break;
    case CommandId::play:
      play(window);
      break;
    case CommandId::toggle_view:
      go_to_next_view(window);
      break;
    case CommandId::pin_scenario:
      window.other_sides.pin(window.session.computation());
      selection.compare_with = CompareWith::pinned;
      window.notices.say(
          "Pinned. Change something: the Compare view shows both results and their difference");
      break;
    case CommandId::memory_order:
      selection.view = selection.view == StageView::memory ? StageView::one_head : StageView::memory;
      break;
    case CommandId::all_the_way:
      selection.all_the_way = !selection.all_the_way;
      break;
    case CommandId::turn_maps:
      selection.queries_as_columns = !selection.queries_as_columns;
      break;
    case CommandId::colors_by_head:
      selection.colors_by_head = !selection.colors_by_head;
      break;
    case CommandId::slower_motion:
      scale_motion(window, 0.5f);
      break;
    case CommandId::faster_motion:
      scale_motion(window, 2.0f);
      break;
    case CommandId::reduce_motion:
      toggle_reduce_motion(window);
      break;
    case CommandId::toggle_theme:
      toggle_theme(window);
      break;
    case CommandId::larger_text:
      scale_text(window, window.settings.font_scale + 0.125f);
      break;
    case CommandId::smaller_text:
      scale_text(window, window.settings.font_scale - 0.125f);
      break;
    case CommandId::normal_text:
      scale_text(window, 1.0f);
      break;
    case CommandId::full_screen:
      window.full_screen = window.stage_only = !window.full_screen;
      break;
    case CommandId::stage_only:
      window.stage_only = !window.stage_only;
      if (!window.stage_only) window.full_screen = false;
      break;
    case CommandId::spotlight:
      selection.spotlight = !selection.spotlight;
      if (selection.spotlight && !selection.pinned)
        window.notices.say("The spotlight falls on the number under the mouse, or on the pinned one.");
      break;
    case CommandId::new_playlist:
      new_playlist(window);
      break;
    case CommandId::reopen_playlist:
      reopen_playlist(window);
      break;
    case CommandId::walk_playlist:
      toggle_walk(window);
      break;
    case CommandId::next_page:
    case CommandId::previous_page: {
      const int by = call.id == CommandId::next_page ? 1 : -1;
      if (window.walk.page)
        walk_pages(window, by);
      else
        go_to_step(window, step + by);
      break;
    }
    case CommandId::restore_page:
      restore_page(window);
      break;
    case CommandId::add_page:
      add_page(window);
      break;
    case CommandId::remove_page:
      remove_page(window);
      break;
    case CommandId::page_earlier:
      move_page(window, -1);
      break;
    case CommandId::page_later:
      move_page(window, 1);
      break;
    case CommandId::walk_cells:
      focus_first_map(window.focus);
      break;
    case CommandId::next_part:
      move_to_part(window.focus, 1);
      break;
    case CommandId::previous_part:
      move_to_part(window.focus, -1);
      break;
    case CommandId::open_menus:
      window.menu_to_open = 0;
      break;
    case CommandId::explain_control:
      window.focus.explained = window.focus.explained == window.focus.focused ? 0 : window.focus.focused;
      break;
    case CommandId::compare:
      window.comparison.open = !window.comparison.open;
      break;
    case CommandId::heads_of_model:
      window.heads.open = !window.heads.open;
      break;
    case CommandId::full_size:
      window.full_size.open = !window.full_size.open;
      break;
    case CommandId::ask_question:
      open_command_palette(window.palette, question_entries(), true);
      break;
    case CommandId::find_by_name:
      if (window.palette.open) {
        window.palette.open = false;
      } else {
        open_command_palette(window.palette, palette_entries(window.session));
      }
      break;
    case CommandId::first_steps:
      begin_first_steps(window);
      break;
    case CommandId::show_keys:
      window.help.keys = !window.help.keys;
      break;
    case CommandId::show_log:
      show_log(window);
      break;
    case CommandId::about:
      window.help.about = true;
      break;
  }
  selection = selection_within(selection, window.session.trace());
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
