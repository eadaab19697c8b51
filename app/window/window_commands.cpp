#include "app/window/window_commands.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "app/content/doc_pages.h"
#include "app/lesson/caption_panel.h"
#include "app/lesson/page_answers.h"
#include "app/lesson/page_place.h"
#include "app/lesson/page_text.h"
#include "app/panels/ask_pages.h"
#include "app/platform/desktop_program.h"
#include "app/session/head_gains.h"
#include "app/session/selection.h"
#include "app/window/page_edits.h"
#include "app/window/page_turns.h"
#include "app/window/playlist_making.h"
#include "app/window/window_files.h"
#include "app/window/window_moves.h"
#include "app/window/window_opening.h"
#include "app/window/window_pictures.h"
#include "app/window/window_state.h"
#include "app/window/window_training.h"
#include "core/lessons/lessons.h"
#include "core/scenario/presets.h"

namespace headwise {
namespace {

// What each command of the table (app/session/commands.h) does.

void edit(WindowState& window, const Scenario& scenario, const std::string& label) {
  window.view.setup.edited_row.clear();
  window.document.session.edit(scenario, label);
}

void forget(WindowState& window, bool only_painted) {
  Scenario edited = window.document.session.scenario();
  const std::size_t forgotten = std::erase_if(
      edited.edits, [&](const CellEdit& each) { return !only_painted || each.tensor == "attn_mask"; });
  if (forgotten == 0)
    return window.view.notices.say(only_painted ? "No pair of the mask is painted."
                                                : "There are no manual edits.");
  edit(window, edited, only_painted ? "clear the painted mask" : "discard manual edits");
}

void show_documentation(DocSheetState& docs) {
  docs.open = true;
  docs.browser = !browser_program().empty();
}

// The section of docs/models.md on the built-in models.
void show_training(DocSheetState& docs) {
  show_documentation(docs);
  const auto section = std::ranges::find(doc_sections(), "How they were trained", &DocSection::title);
  if (section != doc_sections().end()) docs.wanted = section->place;
}

void show_log(WindowState& window) {
  const std::string& path = window.view.notices.log.path();
  if (path.empty())
    return window.view.notices.say("There is no log: neither XDG_STATE_HOME nor HOME is set.");
  constexpr std::size_t lines_shown = 200;
  window.dialogs.log = {true, path, window.view.notices.log.last_lines(lines_shown)};
}

// Undo or redo; what was pinned or hovered stays if the trace still has it.
void go_through_history(WindowState& window, bool (Session::*step)()) {
  const ComputationPtr before = window.document.session.computation();
  window.view.setup.edited_row.clear();
  (window.document.session.*step)();
  window.view.selection =
      selection_after(window.view.selection, *before, *window.document.session.computation());
}

void undo(WindowState& window) {
  const PlaylistWalk& walk = window.document.walk;
  if (window.document.session.awaited() && give_up_page(window)) return;
  if (undo_words(window) || undo_to_page_before(window)) return;
  const std::string label = undo_label(window.document);
  if (!label.empty() && label == window.document.session.undo_label())
    return go_through_history(window, &Session::undo);
  if (!label.empty()) return put_back_page(window);
  std::string nothing = walk.page ? "There is nothing to undo on this page." : "There is nothing to undo.";
  if (walk.page && *walk.page > 0)
    nothing += fmt::format(" {} goes to the previous page.", first_key_text(CommandId::previous_page));
  window.view.notices.say(nothing);
}

void redo(WindowState& window) {
  if (window.document.session.redo_label().empty())
    return window.view.notices.say("There is nothing to redo.");
  go_through_history(window, &Session::redo);
}

void notify_text_scale(WindowView& view, float scale) {
  scale_text(view, scale);
  view.notices.dismiss_all();  // the size before
  view.notices.say(fmt::format("Type size {:.0f} %", 100.0 * static_cast<double>(view.settings.font_scale)));
}

void go_back(WindowState& window) {
  WindowView& view = window.view;
  if (view.trail.empty() && return_from_link(window)) return;
  if (const std::optional<Selection> place = view.trail.back())
    view.selection = *place;
  else
    view.notices.say("No link was followed to this place: there is nothing to go back to.");
  skip_motion(view.motion);
}

void toggle_causal(WindowState& window) {
  Scenario edited = window.document.session.scenario();
  edited.mask.is_causal = !edited.mask.is_causal;
  edit(window, edited, edited.mask.is_causal ? "causal mask on" : "causal mask off");
}

// The effect of a key on the gain of the selected head.
template <class Change>
void change_gain(WindowState& window, Change change) {
  const auto changed = change(window.document.session.scenario(), window.view.selection.head);
  edit(window, changed.scenario, changed.label);
}

void freeze(WindowState& window) {
  const auto frozen = toggle_freeze(window.document.session.scenario(), window.document.session.trace(),
                                    window.view.selection.head);
  if (frozen.label.empty())
    window.view.notices.say("This head cannot be frozen yet: its weights are still being computed.");
  else
    edit(window, frozen.scenario, frozen.label);
}

void pin_scenario(WindowState& window) {
  window.document.comparison_targets.pin(window.document.session.computation());
  window.view.selection.compare_with = CompareWith::pinned;
  window.view.notices.say(
      "Pinned. Change something: the Compare view shows both results and their difference");
}

void toggle_memory(WindowView& view) {
  StageView& shown = view.selection.view;
  shown = shown == StageView::memory ? StageView::one_head : StageView::memory;
}

void toggle_stage_only(WindowState& window) {
  WindowView& view = window.view;
  // A class does not see the controls behind its page because of one letter.
  if (view.full_screen && window.document.walk.page)
    return view.notices.say("Full screen already hides the other panels. Esc leaves it.");
  view.stage_only = !view.stage_only;
  if (!view.stage_only) view.full_screen = false;
}

// While pages are presented their keys turn them: where these go to cells from now on, it is told.
void walk_cells(WindowState& window) {
  FocusOrder& focus = window.view.focus;
  focus_first_map(focus);
  if (window.view.full_screen && window.document.walk.page && focuses_map(focus))
    window.view.notices.say(cells_have_keys);
}

// Pages of one's own and those of a lesson remember it apart.
void toggle_filmstrip(WindowState& window) {
  if (window.document.walk.page)
    toggle_setting(window.view, window.document.walk.from_program ? &Settings::filmstrip_of_lessons
                                                                  : &Settings::filmstrip);
  else
    window.view.notices.say(
        "The filmstrip shows the pages of a playlist. Start one with “Add page”, or open one.");
}

void toggle_notes(WindowState& window) {
  window.view.notes = !window.view.notes;
  if (window.view.notes && !window.document.walk.page)
    window.view.notices.say("The presenter’s notes are there as soon as a playlist is shown.");
}

void toggle_spotlight(WindowView& view) {
  Selection& selection = view.selection;
  selection.spotlight = !selection.spotlight;
  if (selection.spotlight && !selection.pinned)
    view.notices.say("The spotlight falls on the number under the mouse, or on the pinned one.");
}

// Without the graph and the inspector, which tell of it, it may be that nothing is seen of it.
void toggle_all_the_way(WindowView& view) {
  const Selection& selection = view.selection;
  view.selection.all_the_way = !selection.all_the_way;
  if (!view.stage_only) return;
  if (!selection.all_the_way)
    view.notices.say("“All the way” is off.");
  else if (selection.pinned || selection.hovered)
    view.notices.say(
        "“All the way” is on: everything this number depends on, and everything it feeds, is highlighted.");
  else
    view.notices.say(
        "“All the way” is on: point at a number to highlight everything it depends on and everything it "
        "feeds.");
}

void turn_page(WindowState& window, int by) {
  if (window.document.walk.page)
    walk_pages(window, by);
  else
    step_by(window, by);
}

void explain_control(FocusOrder& focus) {
  focus.explained = focus.explained == focus.focused ? 0 : focus.focused;
}

std::shared_ptr<const AskPages> ask_pages(const WindowState& window) {
  const std::shared_ptr<const AskPages>& kept = window.dialogs.palette.pages;
  const Session& session = window.document.session;
  return kept && kept->belong_to(session) ? kept : std::make_shared<const AskPages>(session);
}

void toggle_palette(WindowState& window) {
  if (window.dialogs.palette.open)
    window.dialogs.palette.open = false;
  else
    open_command_palette(window.dialogs.palette,
                         palette_entries(window.document.session, undo_label(window.document)),
                         ask_pages(window));
}

void toggle(bool& flag) {
  flag = !flag;
}

struct CommandHandler {
  CommandId id;
  void (*handle)(WindowState& window, int argument);
};

// In the order of CommandId.
constexpr std::array<CommandHandler, command_count> handlers{{
    // Files
    {CommandId::open_scenario,
     [](WindowState& window, int) { ask_for_scenario(window, FileDialogPurpose::open_scenario); }},
    {CommandId::save, [](WindowState& window, int) { save(window); }},
    {CommandId::save_scenario,
     [](WindowState& window, int) { ask_for_scenario(window, FileDialogPurpose::save_scenario); }},
    {CommandId::export_picture, [](WindowState& window, int) { ask_for_export(window); }},
    {CommandId::save_program, [](WindowState& window, int) { ask_for_program(window); }},
    {CommandId::save_playlist, [](WindowState& window, int) { ask_for_playlist(window); }},
    {CommandId::save_stage_picture, [](WindowState& window, int) { ask_for_stage_picture(window); }},
    {CommandId::save_motion, [](WindowState& window, int) { ask_for_motion(window); }},
    {CommandId::save_slides, [](WindowState& window, int) { ask_for_slides(window); }},
    {CommandId::reopen_scenario, [](WindowState& window, int) { reopen_scenario(window); }},
    {CommandId::quit, [](WindowState& window, int) { window.quit = true; }},
    // The history, and copies
    {CommandId::undo, [](WindowState& window, int) { undo(window); }},
    {CommandId::redo, [](WindowState& window, int) { redo(window); }},
    {CommandId::copy_value, [](WindowState& window, int) { copy_value(window); }},
    {CommandId::copy_table, [](WindowState& window, int) { copy_map(window, MapText::table); }},
    {CommandId::copy_array, [](WindowState& window, int) { copy_map(window, MapText::numpy_array); }},
    {CommandId::copy_mask, [](WindowState& window, int) { copy_mask(window); }},
    {CommandId::copy_program, [](WindowState& window, int) { copy_program(window); }},
    {CommandId::copy_map_image, [](WindowState& window, int) { copy_map_image(window); }},
    {CommandId::copy_stage_image, [](WindowState& window, int) { copy_stage_image(window); }},
    {CommandId::go_back, [](WindowState& window, int) { go_back(window); }},
    {CommandId::unpin, [](WindowState& window, int) { unpin(window); }},
    // Edits of the scenario
    {CommandId::toggle_causal, [](WindowState& window, int) { toggle_causal(window); }},
    {CommandId::toggle_mute, [](WindowState& window, int) { change_gain(window, toggle_mute); }},
    {CommandId::toggle_solo, [](WindowState& window, int) { change_gain(window, toggle_solo); }},
    {CommandId::toggle_freeze, [](WindowState& window, int) { freeze(window); }},
    {CommandId::clear_mask, [](WindowState& window, int) { forget(window, true); }},
    {CommandId::forget_edits, [](WindowState& window, int) { forget(window, false); }},
    // Steps and heads
    {CommandId::next_step, [](WindowState& window, int) { step_by(window, 1); }},
    {CommandId::previous_step, [](WindowState& window, int) { step_by(window, -1); }},
    {CommandId::first_step, [](WindowState& window, int) { go_to_step(window, Step::inputs); }},
    {CommandId::last_step, [](WindowState& window, int) { go_to_step(window, Step::output); }},
    {CommandId::play, [](WindowState& window, int) { play(window); }},
    {CommandId::look_at_head, [](WindowState& window, int head) { go_to_head(window, head); }},
    {CommandId::next_head, [](WindowState& window, int) { go_to_head(window, window.view.selection.head + 1); }},
    {CommandId::previous_head,
     [](WindowState& window, int) { go_to_head(window, window.view.selection.head - 1); }},
    // The view
    {CommandId::toggle_view, [](WindowState& window, int) { go_to_next_view(window); }},
    {CommandId::pin_scenario, [](WindowState& window, int) { pin_scenario(window); }},
    {CommandId::memory_order, [](WindowState& window, int) { toggle_memory(window.view); }},
    {CommandId::all_the_way, [](WindowState& window, int) { toggle_all_the_way(window.view); }},
    {CommandId::turn_maps, [](WindowState& window, int) { toggle(window.view.selection.queries_as_columns); }},
    {CommandId::colors_by_head, [](WindowState& window, int) { toggle(window.view.selection.colors_by_head); }},
    {CommandId::heads_of_model, [](WindowState& window, int) { toggle(window.dialogs.heads.open); }},
    {CommandId::full_size, [](WindowState& window, int) { toggle(window.dialogs.full_size.open); }},
    {CommandId::train, [](WindowState& window, int) { toggle_training(window); }},
    // Settings and the screen
    {CommandId::slower_motion, [](WindowState& window, int) { scale_motion(window.view, 0.5f); }},
    {CommandId::faster_motion, [](WindowState& window, int) { scale_motion(window.view, 2.0f); }},
    {CommandId::reduce_motion,
     [](WindowState& window, int) { toggle_setting(window.view, &Settings::reduce_motion); }},
    {CommandId::toggle_theme, [](WindowState& window, int) { toggle_theme(window.view); }},
    {CommandId::larger_text,
     [](WindowState& window, int) { notify_text_scale(window.view, window.view.settings.font_scale + 0.125f); }},
    {CommandId::smaller_text,
     [](WindowState& window, int) { notify_text_scale(window.view, window.view.settings.font_scale - 0.125f); }},
    {CommandId::normal_text, [](WindowState& window, int) { notify_text_scale(window.view, 1.0f); }},
    {CommandId::stage_only, [](WindowState& window, int) { toggle_stage_only(window); }},
    {CommandId::full_screen,
     [](WindowState& window, int) {
       if (!words_are_readable(window)) return;
       window.view.full_screen = window.view.stage_only = !window.view.full_screen;
       if (window.view.full_screen) end_writing(window);
     }},
    {CommandId::spotlight, [](WindowState& window, int) { toggle_spotlight(window.view); }},
    {CommandId::blank_screen, [](WindowState& window, int) { window.view.blank = true; }},
    {CommandId::presenter_notes, [](WindowState& window, int) { toggle_notes(window); }},
    // Playlists
    {CommandId::new_playlist, [](WindowState& window, int) { new_playlist(window); }},
    {CommandId::reopen_playlist, [](WindowState& window, int) { reopen_playlist(window); }},
    {CommandId::walk_playlist, [](WindowState& window, int) { present(window); }},
    {CommandId::leave_playlist, [](WindowState& window, int) { step_out(window); }},
    {CommandId::take_back_answer, [](WindowState& window, int) { take_back_answer(window); }},
    {CommandId::start_over, [](WindowState& window, int) { start_over(window); }},
    {CommandId::next_page, [](WindowState& window, int) { turn_page(window, 1); }},
    {CommandId::previous_page, [](WindowState& window, int) { turn_page(window, -1); }},
    {CommandId::restore_page, [](WindowState& window, int) { restore_page(window); }},
    {CommandId::add_page, [](WindowState& window, int) { add_page(window); }},
    {CommandId::duplicate_page, [](WindowState& window, int) { duplicate_page(window); }},
    {CommandId::update_page, [](WindowState& window, int) { update_page(window); }},
    {CommandId::remove_page, [](WindowState& window, int) { remove_page(window); }},
    {CommandId::put_back_page, [](WindowState& window, int) { put_back_page(window); }},
    {CommandId::page_earlier, [](WindowState& window, int) { move_page(window, -1); }},
    {CommandId::page_later, [](WindowState& window, int) { move_page(window, 1); }},
    {CommandId::filmstrip, [](WindowState& window, int) { toggle_filmstrip(window); }},
    // The keyboard
    {CommandId::walk_cells, [](WindowState& window, int) { walk_cells(window); }},
    {CommandId::next_part, [](WindowState& window, int) { move_to_part(window.view.focus, 1); }},
    {CommandId::previous_part, [](WindowState& window, int) { move_to_part(window.view.focus, -1); }},
    {CommandId::open_menus, [](WindowState& window, int) { window.view.menu_to_open = 0; }},
    {CommandId::explain_control, [](WindowState& window, int) { explain_control(window.view.focus); }},
    // Sheets and help
    {CommandId::compare, [](WindowState& window, int) { toggle(window.dialogs.comparison.open); }},
    {CommandId::ask_question,
     [](WindowState& window,
        int) { open_command_palette(window.dialogs.palette, question_entries(), ask_pages(window), true); }},
    {CommandId::find_by_name, [](WindowState& window, int) { toggle_palette(window); }},
    {CommandId::opening_scene, [](WindowState& window, int) { show_opening(window); }},
    {CommandId::first_steps, [](WindowState& window, int) { begin_first_steps(window.view); }},
    {CommandId::documentation, [](WindowState& window, int) { show_documentation(window.dialogs.docs); }},
    {CommandId::model_training, [](WindowState& window, int) { show_training(window.dialogs.docs); }},
    {CommandId::show_keys, [](WindowState& window, int) { toggle(window.dialogs.help.keys); }},
    {CommandId::show_log, [](WindowState& window, int) { show_log(window); }},
    {CommandId::about, [](WindowState& window, int) { window.dialogs.help.about = true; }},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < handlers.size(); ++i)
    if (static_cast<std::size_t>(handlers[i].id) != i) return false;
  return true;
}

static_assert(in_order());

// Copies, saves or keeps what was computed, or counts its heads.
bool needs_numbers(CommandId id) {
  using Id = CommandId;
  constexpr Id all[] = {Id::copy_value,    Id::copy_table,     Id::copy_array,         Id::copy_mask,
                        Id::copy_program,  Id::copy_map_image, Id::copy_stage_image,   Id::export_picture,
                        Id::save_program,  Id::save_motion,    Id::save_stage_picture, Id::pin_scenario,
                        Id::toggle_freeze, Id::compare,        Id::add_page,           Id::update_page,
                        Id::look_at_head,  Id::next_head,      Id::previous_head};
  return std::ranges::find(all, id) != std::end(all);
}

// Executes the command. Afterwards the selection may name something that the new trace no longer has.
void handle_command(WindowState& window, CommandCall call) {
  handlers[static_cast<std::size_t>(call.id)].handle(window, call.argument);
}

}  // namespace

void perform(WindowState& window, CommandCall call) {
  if (window.document.walk.refused() && needs_numbers(call.id))
    return window.view.notices.say("This page has no numbers: it cannot be computed. Its text says why.");
  if (const auto tried = suggestion_of(call.id)) remember_suggestion(window.view, *tried);
  handle_command(window, call);
  window.view.selection = selection_within(window.view.selection, window.document.session.trace());
}

void perform(WindowState& window, const PaletteEntry& entry) {
  // The palette's field is gone: Escape chosen by name refers to what lies behind it.
  release_focus(window.view.focus);
  if (const auto* call = std::get_if<CommandCall>(&entry.target)) perform(window, *call);
  if (const auto* step = std::get_if<Step>(&entry.target)) go_to_step(window, *step);
  if (const auto* view = std::get_if<StageView>(&entry.target)) window.view.selection.view = *view;
  if (const auto* preset = std::get_if<PresetName>(&entry.target)) {
    window.view.setup.forget_scenario();
    window.document.session.open(preset_scenario(preset->name), "open " + preset->name);
    window.document.scenario_path.clear();
    window.view.selection = selection_within(
        place_of_preset(preset_named(preset->name), window.view.selection), window.document.session.trace());
  }
  if (const auto* brush = std::get_if<BrushShape>(&entry.target)) {
    if (const std::string refusal = painting_refusal(window.document.session.trace()); !refusal.empty())
      window.view.notices.say(refusal);
    go_to_step(window, Step::mask);
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
    if (action.opens) view.setup.forget_scenario();
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
    if (view.selection.step != from)
      begin_motion(view.motion, shown_steps(document.session.trace().options), from, view.selection.step);
  }
  if (action.returns_to_page && document.walk.page) {
    view.selection = selection_within(place_of_page(document.walk, view.selection), document.session.trace());
    view.arrived = true;
    skip_motion(view.motion);
  }
  if (action.lesson) visit_lesson(window, lesson_playlist(action.lesson->lesson), action.lesson->page);
  if (action.page && words_are_readable(window))
    action.follows_link ? follow_to_page(window, *action.page)
                        : show_page(window, *action.page, entry_towards(document.walk, *action.page));
  if (action.timeline) {
    const TimelinePlace place = timeline_place(shown_steps(document.session.trace().options), *action.timeline);
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
