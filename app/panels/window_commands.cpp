#include "app/panels/window_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/panels/motion_recording.h"
#include "app/panels/playlist_making.h"
#include "app/panels/window_copies.h"
#include "app/panels/window_files.h"
#include "app/panels/window_pictures.h"
#include "app/session/frozen_heads.h"
#include "app/session/head_gains.h"
#include "core/playlist/lessons.h"
#include "core/scenario/presets.h"
#include "core/tensor/error.h"

namespace headwise {
namespace {

void edit(WindowState& window, const Scenario& scenario, const std::string& label) {
  window.setup.edited_row.clear();
  window.session.edit(scenario, label);
}

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

// One thing at a time, the nearest first.
void let_go(WindowState& window) {
  Selection& selection = window.selection;
  if (window.recording) {
    window.notices.say("Given up: " + window.recording->path() + " was not written.");
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

void change_settings(WindowState& window, const Settings& settings) {
  window.settings = settings;
  try {
    save_settings(window.settings_file, settings);
  } catch (const Error& error) {
    window.notices.complain(error.what());
  }
}

void scale_motion(WindowState& window, float factor) {
  Settings settings = window.settings;
  settings.motion_speed =
      std::clamp(settings.motion_speed * factor, Settings::slowest_motion, Settings::fastest_motion);
  change_settings(window, settings);
  window.notices.say(fmt::format("Motion at {:g} × its speed", settings.motion_speed));
}

// From the end it begins again; a motion that is held goes on.
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

void forget(WindowState& window, bool only_painted) {
  Scenario edited = window.session.scenario();
  const std::size_t forgotten = std::erase_if(
      edited.edits, [&](const CellEdit& each) { return !only_painted || each.tensor == "attn_mask"; });
  if (forgotten == 0)
    return window.notices.say(only_painted ? "No pair of the mask was painted." : "Nothing was set by hand.");
  edit(window, edited, only_painted ? "clear the painted mask" : "forget what was set by hand");
}

void show_log(WindowState& window) {
  const std::string& path = window.notices.log.path();
  if (path.empty()) return window.notices.say("There is no log: neither XDG_STATE_HOME nor HOME is set.");
  window.clipboard = path;
  window.notices.say(fmt::format("Errors are kept in {} (copied)", path));
}

void scale_text(WindowState& window, float scale) {
  Settings settings = window.settings;
  settings.font_scale = std::clamp(scale, Settings::smallest_font_scale, Settings::largest_font_scale);
  change_settings(window, settings);
}

}  // namespace

void finish_first_steps(WindowState& window) {
  Settings settings = window.settings;
  settings.first_steps = false;
  change_settings(window, settings);
}

void perform(WindowState& window, CommandCall call) {
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
      break;
    case CommandId::redo:
      window.setup.edited_row.clear();
      window.session.redo();
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
      const GainEdit muted = toggle_mute(scenario, selection.head);
      edit(window, muted.scenario, muted.label);
      break;
    }
    case CommandId::toggle_solo: {
      const GainEdit solo = toggle_solo(scenario, selection.head);
      edit(window, solo.scenario, solo.label);
      break;
    }
    case CommandId::toggle_freeze: {
      const FreezeEdit frozen = toggle_freeze(scenario, window.session.trace(), selection.head);
      if (frozen.label.empty())
        window.notices.say("There are no weights of this head to hold yet: they are being computed.");
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
      selection.view = static_cast<StageView>((static_cast<int>(selection.view) + 1) % stage_view_count);
      if (selection.view == StageView::prediction && !offers_prediction(window.session.scenario()))
        selection.view = StageView::one_head;
      break;
    case CommandId::pin_scenario:
      window.other_sides.pin(window.session.computation());
      selection.compare_with = CompareWith::pinned;
      window.notices.say("Pinned. Change something: the view Compare shows both, and their difference");
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
    case CommandId::slower_motion:
      scale_motion(window, 0.5f);
      break;
    case CommandId::faster_motion:
      scale_motion(window, 2.0f);
      break;
    case CommandId::reduce_motion: {
      Settings settings = window.settings;
      settings.reduce_motion = !settings.reduce_motion;
      change_settings(window, settings);
      break;
    }
    case CommandId::toggle_theme: {
      Settings settings = window.settings;
      switch (settings.theme) {
        case Theme::dark:
          settings.theme = Theme::light;
          break;
        case Theme::light:
          settings.theme = Theme::projector;
          break;
        case Theme::projector:
          settings.theme = Theme::dark;
          break;
      }
      change_settings(window, settings);
      break;
    }
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
        window.notices.say(
            "The spotlight falls on the number under the mouse, or on one that is pinned by a click.");
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
    case CommandId::first_steps: {
      window.first_steps = {};
      Settings settings = window.settings;
      settings.first_steps = true;
      change_settings(window, settings);
      break;
    }
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
  if (const auto* setting = std::get_if<SettingId>(&entry.target)) {
    window.full_screen = window.stage_only = false;  // the setup is not seen there
    window.setup.wanted_row = setting->row;
  }
  if (const auto* lesson = std::get_if<LessonPage>(&entry.target))
    start_walk(window, lesson_playlist(lesson->lesson), {}, lesson->page);
}

void take_action(WindowState& window, const PanelAction& action, bool from_setup) {
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
  if (action.scenario || action.selection) {
    window.selection = selection_within(window.selection, window.session.trace());
  }
  if (action.file) open_file(window, *action.file);
  if (action.command) perform(window, {*action.command});
}

}  // namespace headwise
