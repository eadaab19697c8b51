// The table itself, in the order of CommandId; what is looked up in it stands in commands.cpp.
#include "app/session/commands.h"

namespace headwise {
namespace {

constexpr KeyChord plain(Key key) {
  return {key, false, false};
}
constexpr KeyChord ctrl(Key key) {
  return {key, true, false};
}
constexpr KeyChord alt(Key key) {
  return {key, false, false, true};
}
constexpr KeyChord shift(Key key) {
  return {key, false, true};
}
constexpr KeyChord ctrl_shift(Key key) {
  return {key, true, true};
}

// An entry that is still being written down.
struct Written : CommandEntry {
  constexpr Written below_rule() const {
    Written entry = *this;
    entry.separated = true;
    return entry;
  }
  constexpr Written repeating() const {
    Written entry = *this;
    entry.repeats = true;
    return entry;
  }
  constexpr Written with_arguments(int count) const {
    Written entry = *this;
    entry.key_count = count;
    return entry;
  }
};

constexpr Written command(CommandId id, Menu menu, std::string_view name, std::string_view what,
                          std::array<KeyChord, 3> keys = {}) {
  return {{id, menu, false, name, what, keys}};
}

constexpr std::array<CommandEntry, command_count> table{{
    command(CommandId::open_scenario, Menu::file, "Open…", "open a scenario or a playlist (.json)",
            {ctrl(letter('O'))}),
    command(CommandId::save_scenario, Menu::file, "Save scenario…",
            "save everything that this result depends on", {ctrl(letter('S'))}),
    command(CommandId::export_picture, Menu::file, "Export picture…",
            "write the picture under focus to a .png, .svg, .csv or .npy file", {ctrl(letter('E'))})
        .below_rule(),
    command(CommandId::save_program, Menu::file, "Save program…",
            "write all of this as a Python program (.py) in the style of the inspector"),
    command(CommandId::save_playlist, Menu::file, "Save playlist…",
            "write the pages of the playlist, with their scenarios, to a file (.json)"),
    command(CommandId::save_stage_picture, Menu::file, "Save the stage as picture…",
            "write the stage alone, at slide size, to a .png or .svg file", {ctrl_shift(letter('E'))})
        .below_rule(),
    command(CommandId::save_motion, Menu::file, "Save this motion…",
            "write the way into this step as an animated .png file"),
    command(CommandId::reopen_scenario, Menu::file, "Reopen what was left",
            "open the scenario that was in the window when it was closed the last time"),
    command(CommandId::quit, Menu::file, "Quit", "close the window", {ctrl(letter('Q'))}).below_rule(),
    command(CommandId::undo, Menu::edit, "Undo", "take the last edit back", {ctrl(letter('Z'))}).repeating(),
    command(CommandId::redo, Menu::edit, "Redo", "do it again", {ctrl(letter('Y')), ctrl_shift(letter('Z'))})
        .repeating(),
    command(CommandId::copy_value, Menu::edit, "Copy value",
            "copy the number of the cell that is pinned or under the mouse", {ctrl(letter('C'))})
        .below_rule(),
    command(CommandId::copy_table, Menu::edit, "Copy map as table",
            "copy the step's result at this head for a spreadsheet, tab-separated",
            {ctrl_shift(letter('C'))}),
    command(CommandId::copy_array, Menu::edit, "Copy map as np.array",
            "copy the step's result at this head as NumPy source"),
    command(CommandId::copy_mask, Menu::edit, "Copy mask as booleans",
            "copy this head's masks as a boolean np.array, True as the setup says it"),
    command(CommandId::copy_program, Menu::edit, "Copy program",
            "copy all of this as a Python program in the style of the inspector"),
    command(CommandId::copy_map_image, Menu::edit, "Copy map as image",
            "copy the step's result at this head as a picture"),
    command(CommandId::copy_stage_image, Menu::edit, "Copy stage as image",
            "copy the stage alone, at slide size, as a picture"),
    command(CommandId::go_back, Menu::edit, "Back to the cell before",
            "go back to the cell that was pinned before, from where a term or a link led here",
            {plain(Key::backspace), alt(Key::left)})
        .below_rule(),
    command(CommandId::let_go, Menu::edit, "Let go",
            "give up a long computation, unpin the cell, leave the field, stop playing",
            {plain(Key::escape)}),
    command(CommandId::toggle_causal, Menu::edit, "Causal mask", "switch the causal mask off or on",
            {plain(letter('C'))})
        .below_rule(),
    command(CommandId::toggle_mute, Menu::edit, "Mute head",
            "mute the head that is looked at, or let it speak again", {plain(letter('M'))}),
    command(CommandId::toggle_solo, Menu::edit, "Solo head",
            "hear only the head that is looked at, or all again", {plain(letter('S'))}),
    command(CommandId::toggle_freeze, Menu::edit, "Freeze head",
            "hold the attention weights of the head that is looked at as they are, or let it go",
            {plain(letter('H'))}),
    command(CommandId::clear_mask, Menu::edit, "Clear painted mask",
            "forget the pairs of the mask that were painted")
        .below_rule(),
    command(CommandId::forget_edits, Menu::edit, "Forget edits by hand",
            "forget all numbers that were set by hand, and the painted pairs of the mask"),
    command(CommandId::next_step, Menu::view, "Next step", "go on to the next step", {plain(Key::right)})
        .repeating()
        .below_rule(),
    command(CommandId::previous_step, Menu::view, "Previous step", "go back to the step before",
            {plain(Key::left)})
        .repeating(),
    command(CommandId::first_step, Menu::view, "First step", "back to the inputs", {plain(Key::home)}),
    command(CommandId::last_step, Menu::view, "Last step", "on to the output", {plain(Key::end)}),
    command(CommandId::play, Menu::view, "Play", "walk through the steps one by one, or stop",
            {plain(Key::space)}),
    command(CommandId::look_at_head, Menu::none, "Head 0 … 9", "look at this head", {plain(Key::zero)})
        .with_arguments(10),
    command(CommandId::next_head, Menu::view, "Next head", "look at the next head", {plain(Key::down)})
        .repeating()
        .below_rule(),
    command(CommandId::previous_head, Menu::view, "Previous head", "look at the head before",
            {plain(Key::up)})
        .repeating(),
    command(CommandId::toggle_view, Menu::view, "Another view",
            "one head, all heads, tokens joined by lines, q ∘ k, gradients, compare, memory",
            {plain(letter('A'))})
        .below_rule(),
    command(CommandId::pin_scenario, Menu::view, "Pin for comparison",
            "keep this result as it is: the view Compare holds it beside what comes", {plain(letter('P'))}),
    command(CommandId::memory_order, Menu::view, "Memory order",
            "show which float lies where after view and transpose, or the view of one head again",
            {plain(letter('O'))}),
    command(CommandId::all_the_way, Menu::view, "All the way",
            "light all that a number depends on, back to the inputs, and all that it feeds",
            {plain(letter('W'))}),
    command(CommandId::turn_maps, Menu::view, "Queries as columns",
            "turn the maps of queries and keys: a query is a column, or a row again", {plain(letter('Q'))}),
    command(CommandId::colors_by_head, Menu::view, "Colours of each head",
            "let the colours of small maps end at each head's own largest number, or at that of all"),
    command(CommandId::heads_of_model, Menu::view, "Heads of the model…",
            "every layer's heads with measured scores, to find those worth looking at", {plain(letter('R'))})
        .below_rule(),
    command(CommandId::full_size, Menu::view, "Full size…",
            "attention at the size of real models, and the map of every head", {plain(letter('Z'))}),
    command(CommandId::slower_motion, Menu::view, "Slower motion",
            "let each step take twice as long to be made", {plain(letter(','))})
        .repeating()
        .below_rule(),
    command(CommandId::faster_motion, Menu::view, "Faster motion", "let each step be made in half the time",
            {plain(letter('.'))})
        .repeating(),
    command(CommandId::reduce_motion, Menu::view, "Reduce motion",
            "fade from picture to picture, or let the numbers travel again"),
    command(CommandId::toggle_theme, Menu::view, "Another theme",
            "dark, light, or for a projector: black on white, thick lines, larger type", {plain(letter('T'))})
        .below_rule(),
    command(CommandId::larger_text, Menu::view, "Larger text", "make everything larger",
            {ctrl(Key::equal), ctrl_shift(Key::equal), ctrl(Key::keypad_add)})
        .repeating(),
    command(CommandId::smaller_text, Menu::view, "Smaller text", "make everything smaller",
            {ctrl(Key::minus), ctrl(Key::keypad_subtract)})
        .repeating(),
    command(CommandId::normal_text, Menu::view, "Normal text", "back to the normal size", {ctrl(Key::zero)}),
    command(CommandId::stage_only, Menu::teach, "Stage alone",
            "hide all but steps and stage, with type as large as the window allows; or show it again",
            {plain(letter('F'))}),
    command(CommandId::full_screen, Menu::teach, "Full-screen stage",
            "the stage alone on the whole screen, for the last row of a class; or back", {plain(Key::f11)}),
    command(CommandId::spotlight, Menu::teach, "Spotlight",
            "dim all but the cell that is looked at and what it was made from; or let it go",
            {plain(letter('L'))}),
    command(CommandId::new_playlist, Menu::teach, "New playlist",
            "begin a playlist whose first page is what the window shows")
        .below_rule(),
    command(CommandId::reopen_playlist, Menu::teach, "Reopen unsaved playlist",
            "take up the pages of your own that were left without being saved"),
    command(CommandId::walk_playlist, Menu::teach, "Walk through playlist",
            "show the pages of the playlist one by one, or go back to your own scenario"),
    command(CommandId::next_page, Menu::teach, "Next page",
            "on to the next page of the playlist, or without one to the next step", {plain(Key::page_down)})
        .repeating(),
    command(CommandId::previous_page, Menu::teach, "Previous page",
            "back to the page before, or without a playlist to the step before", {plain(Key::page_up)})
        .repeating(),
    command(CommandId::restore_page, Menu::teach, "Restore page",
            "give the page that is shown the settings and the place that it had before you changed it"),
    command(CommandId::add_page, Menu::teach, "Add page", "make what the window shows a page of the playlist")
        .below_rule(),
    command(CommandId::remove_page, Menu::teach, "Remove page",
            "take the page that is shown out of the playlist"),
    command(CommandId::page_earlier, Menu::teach, "Move page earlier",
            "put the page that is shown before the one before it"),
    command(CommandId::page_later, Menu::teach, "Move page later",
            "put the page that is shown behind the next one"),
    command(CommandId::walk_cells, Menu::keyboard, "Walk the cells",
            "to the numbers on the stage: the arrows go from cell to cell, Enter pins one, Esc leaves",
            {plain(Key::enter), plain(Key::keypad_enter)}),
    command(CommandId::next_part, Menu::keyboard, "Next part", "to the controls of the next panel",
            {plain(Key::f6)})
        .repeating(),
    command(CommandId::previous_part, Menu::keyboard, "Previous part", "to the controls of the panel before",
            {shift(Key::f6)})
        .repeating(),
    command(CommandId::open_menus, Menu::keyboard, "Menus", "open the first menu: the arrows go through all",
            {plain(Key::f10)}),
    command(CommandId::explain_control, Menu::keyboard, "What is this?",
            "say what the control does that the keyboard speaks to", {shift(Key::f1)}),
    command(CommandId::compare, Menu::help, "Is it the same?",
            "layouts of the projection, many heads or one, soft or hard look-up: compared in numbers",
            {plain(letter('I'))}),
    command(CommandId::ask_question, Menu::help, "Ask a question…",
            "find an answer, in computed numbers, by the words of your question"),
    command(CommandId::find_by_name, Menu::help, "Commands…",
            "find any command, step, view, brush, setting, preset or head by a few letters",
            {ctrl_shift(letter('P'))}),
    command(CommandId::first_steps, Menu::help, "First steps",
            "say at the top of the window what to do first, until it is done"),
    command(CommandId::show_keys, Menu::help, "Keys", "show or hide this sheet", {plain(Key::f1)}),
    command(CommandId::show_log, Menu::help, "Error log",
            "say which file keeps the errors, and copy its path")
        .below_rule(),
    command(CommandId::about, Menu::help, "About Headwise",
            "version, and the letters that shapes are written in"),
}};

constexpr bool in_order() {
  for (int i = 0; i < command_count; ++i) {
    if (static_cast<int>(table[static_cast<std::size_t>(i)].id) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table stands in the order of CommandId");

}  // namespace

std::span<const CommandEntry> command_entries() {
  return table;
}

const CommandEntry& command_entry(CommandId id) {
  return table[static_cast<std::size_t>(id)];
}

}  // namespace headwise
