#include "app/session/commands.h"

#include <fmt/format.h>

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
constexpr KeyChord ctrl_shift(Key key) {
  return {key, true, true};
}

constexpr std::array<CommandEntry, command_count> table{{
    {CommandId::open_scenario,
     Menu::file,
     false,
     "Open…",
     "open a scenario or a playlist (.json)",
     {ctrl(letter('O'))}},
    {CommandId::save_scenario,
     Menu::file,
     false,
     "Save scenario…",
     "save everything that this result depends on",
     {ctrl(letter('S'))}},
    {CommandId::export_picture,
     Menu::file,
     true,
     "Export picture…",
     "write the picture under focus to a .png, .svg, .csv or .npy file",
     {ctrl(letter('E'))}},
    {CommandId::save_program,
     Menu::file,
     false,
     "Save program…",
     "write all of this as a Python program (.py) in the style of the inspector",
     {}},
    {CommandId::save_playlist,
     Menu::file,
     false,
     "Save playlist…",
     "write the pages of the playlist, with their scenarios, to a file (.json)",
     {}},
    {CommandId::save_stage_picture,
     Menu::file,
     true,
     "Save the stage as picture…",
     "write the stage alone, at slide size, to a .png or .svg file",
     {ctrl_shift(letter('E'))}},
    {CommandId::save_motion,
     Menu::file,
     false,
     "Save this motion…",
     "write the way into this step as an animated .png file",
     {}},
    {CommandId::quit, Menu::file, true, "Quit", "close the window", {ctrl(letter('Q'))}},
    {CommandId::undo, Menu::edit, false, "Undo", "take the last edit back", {ctrl(letter('Z'))}, 1, true},
    {CommandId::redo,
     Menu::edit,
     false,
     "Redo",
     "do it again",
     {ctrl(letter('Y')), ctrl_shift(letter('Z'))},
     1,
     true},
    {CommandId::copy_value,
     Menu::edit,
     true,
     "Copy value",
     "copy the number of the cell that is pinned or under the mouse",
     {ctrl(letter('C'))}},
    {CommandId::copy_table,
     Menu::edit,
     false,
     "Copy map as table",
     "copy the step's result at this head for a spreadsheet, tab-separated",
     {ctrl_shift(letter('C'))}},
    {CommandId::copy_array,
     Menu::edit,
     false,
     "Copy map as np.array",
     "copy the step's result at this head as NumPy source",
     {}},
    {CommandId::copy_mask,
     Menu::edit,
     false,
     "Copy mask as booleans",
     "copy this head's masks as a boolean np.array, True as the setup says it",
     {}},
    {CommandId::copy_program,
     Menu::edit,
     false,
     "Copy program",
     "copy all of this as a Python program in the style of the inspector",
     {}},
    {CommandId::copy_map_image,
     Menu::edit,
     false,
     "Copy map as image",
     "copy the step's result at this head as a picture",
     {}},
    {CommandId::copy_stage_image,
     Menu::edit,
     false,
     "Copy stage as image",
     "copy the stage alone, at slide size, as a picture",
     {}},
    {CommandId::go_back,
     Menu::edit,
     true,
     "Back to the cell before",
     "go back to the cell that was pinned before, from where a term or a link led here",
     {plain(Key::backspace), alt(Key::left)}},
    {CommandId::let_go,
     Menu::edit,
     false,
     "Let go",
     "unpin the cell, leave the field, stop playing",
     {plain(Key::escape)}},
    {CommandId::toggle_causal,
     Menu::edit,
     true,
     "Causal mask",
     "switch the causal mask off or on",
     {plain(letter('C'))}},
    {CommandId::toggle_mute,
     Menu::edit,
     false,
     "Mute head",
     "mute the head that is looked at, or let it speak again",
     {plain(letter('M'))}},
    {CommandId::toggle_solo,
     Menu::edit,
     false,
     "Solo head",
     "hear only the head that is looked at, or all again",
     {plain(letter('S'))}},
    {CommandId::next_step,
     Menu::view,
     true,
     "Next step",
     "go on to the next step",
     {plain(Key::right)},
     1,
     true},
    {CommandId::previous_step,
     Menu::view,
     false,
     "Previous step",
     "go back to the step before",
     {plain(Key::left)},
     1,
     true},
    {CommandId::first_step, Menu::view, false, "First step", "back to the inputs", {plain(Key::home)}},
    {CommandId::last_step, Menu::view, false, "Last step", "on to the output", {plain(Key::end)}},
    {CommandId::play,
     Menu::view,
     false,
     "Play",
     "walk through the steps one by one, or stop",
     {plain(Key::space)}},
    {CommandId::look_at_head, Menu::none, false, "Head 0 … 9", "look at this head", {plain(Key::zero)}, 10},
    {CommandId::next_head,
     Menu::view,
     true,
     "Next head",
     "look at the next head",
     {plain(Key::down)},
     1,
     true},
    {CommandId::previous_head,
     Menu::view,
     false,
     "Previous head",
     "look at the head before",
     {plain(Key::up)},
     1,
     true},
    {CommandId::toggle_view,
     Menu::view,
     true,
     "Another view",
     "one head, all heads side by side, tokens joined by lines, q ∘ k, gradients, compare",
     {plain(letter('A'))}},
    {CommandId::pin_scenario,
     Menu::view,
     false,
     "Pin for comparison",
     "keep this result as it is: the view Compare holds it beside what comes",
     {plain(letter('P'))}},
    {CommandId::all_the_way,
     Menu::view,
     false,
     "All the way",
     "light all that a number depends on, back to the inputs, and all that it feeds",
     {plain(letter('W'))}},
    {CommandId::turn_maps,
     Menu::view,
     false,
     "Queries as columns",
     "turn the maps of queries and keys: a query is a column, or a row again",
     {plain(letter('Q'))}},
    {CommandId::slower_motion,
     Menu::view,
     true,
     "Slower motion",
     "let each step take twice as long to be made",
     {plain(letter(','))},
     1,
     true},
    {CommandId::faster_motion,
     Menu::view,
     false,
     "Faster motion",
     "let each step be made in half the time",
     {plain(letter('.'))},
     1,
     true},
    {CommandId::reduce_motion,
     Menu::view,
     false,
     "Reduce motion",
     "fade from picture to picture, or let the numbers travel again",
     {}},
    {CommandId::toggle_theme,
     Menu::view,
     true,
     "Another theme",
     "dark, light, or for a projector: black on white, thick lines, larger type",
     {plain(letter('T'))}},
    {CommandId::larger_text,
     Menu::view,
     false,
     "Larger text",
     "make everything larger",
     {ctrl(Key::equal), ctrl_shift(Key::equal), ctrl(Key::keypad_add)},
     1,
     true},
    {CommandId::smaller_text,
     Menu::view,
     false,
     "Smaller text",
     "make everything smaller",
     {ctrl(Key::minus), ctrl(Key::keypad_subtract)},
     1,
     true},
    {CommandId::normal_text, Menu::view, false, "Normal text", "back to the normal size", {ctrl(Key::zero)}},
    {CommandId::stage_only,
     Menu::teach,
     false,
     "Stage alone",
     "hide all but steps and stage, with type as large as the window allows; or show it again",
     {plain(letter('F'))}},
    {CommandId::full_screen,
     Menu::teach,
     false,
     "Full-screen stage",
     "the stage alone on the whole screen, for the last row of a class; or back",
     {plain(Key::f11)}},
    {CommandId::spotlight,
     Menu::teach,
     false,
     "Spotlight",
     "dim all but the cell that is looked at and what it was made from; or let it go",
     {plain(letter('L'))}},
    {CommandId::walk_playlist,
     Menu::teach,
     true,
     "Walk through playlist",
     "show the pages of the playlist one by one, or go back to your own scenario",
     {}},
    {CommandId::next_page,
     Menu::teach,
     false,
     "Next page",
     "on to the next page of the playlist, or without one to the next step",
     {plain(Key::page_down)},
     1,
     true},
    {CommandId::previous_page,
     Menu::teach,
     false,
     "Previous page",
     "back to the page before, or without a playlist to the step before",
     {plain(Key::page_up)},
     1,
     true},
    {CommandId::add_page,
     Menu::teach,
     true,
     "Add page",
     "make what the window shows a page of the playlist",
     {}},
    {CommandId::remove_page,
     Menu::teach,
     false,
     "Remove page",
     "take the page that is shown out of the playlist",
     {}},
    {CommandId::compare,
     Menu::help,
     false,
     "Is it the same?",
     "layouts of the projection, many heads or one, soft or hard look-up: compared in numbers",
     {plain(letter('I'))}},
    {CommandId::find_by_name,
     Menu::help,
     false,
     "Commands…",
     "find any command, step, view, preset or head by a few letters",
     {ctrl_shift(letter('P'))}},
    {CommandId::first_steps,
     Menu::help,
     false,
     "First steps",
     "say at the top of the window what to do first, until it is done",
     {}},
    {CommandId::show_keys, Menu::help, false, "Keys", "show or hide this sheet", {plain(Key::f1)}},
    {CommandId::show_log,
     Menu::help,
     true,
     "Error log",
     "say which file keeps the errors, and copy its path",
     {}},
    {CommandId::about,
     Menu::help,
     false,
     "About Headwise",
     "version, and the letters that shapes are written in",
     {}},
}};

constexpr bool in_order() {
  for (int i = 0; i < command_count; ++i) {
    if (static_cast<int>(table[static_cast<std::size_t>(i)].id) != i) return false;
  }
  return true;
}
static_assert(in_order(), "the table stands in the order of CommandId");

std::string key_name(Key key) {
  switch (key) {
    case Key::none:
      return "";
    case Key::space:
      return "Space";
    case Key::minus:
      return "−";
    case Key::equal:
      return "+";
    case Key::escape:
      return "Esc";
    case Key::enter:
      return "Enter";
    case Key::tab:
      return "Tab";
    case Key::backspace:
      return "Backspace";
    case Key::insert:
      return "Insert";
    case Key::del:
      return "Delete";
    case Key::right:
      return "→";
    case Key::left:
      return "←";
    case Key::down:
      return "↓";
    case Key::up:
      return "↑";
    case Key::page_up:
      return "Page Up";
    case Key::page_down:
      return "Page Down";
    case Key::home:
      return "Home";
    case Key::end:
      return "End";
    case Key::f1:
      return "F1";
    case Key::f11:
      return "F11";
    case Key::keypad_enter:
      return "keypad Enter";
    case Key::keypad_add:
      return "keypad +";
    case Key::keypad_subtract:
      return "keypad −";
    case Key::zero:
      break;
  }
  return std::string(1, static_cast<char>(key));
}

}  // namespace

std::span<const CommandEntry> command_entries() {
  return table;
}

const CommandEntry& command_entry(CommandId id) {
  return table[static_cast<std::size_t>(id)];
}

std::optional<CommandCall> find_command(KeyChord chord) {
  for (const CommandEntry& entry : table) {
    for (const KeyChord& own : entry.keys) {
      if (own.key == Key::none || own.ctrl != chord.ctrl || own.shift != chord.shift || own.alt != chord.alt)
        continue;
      const int argument = static_cast<int>(chord.key) - static_cast<int>(own.key);
      if (argument >= 0 && argument < entry.key_count) return CommandCall{entry.id, argument};
    }
  }
  return std::nullopt;
}

std::string chord_text(KeyChord chord) {
  if (chord.key == Key::none) return "";
  // "+" is typed with Shift on most keyboards; saying so would only confuse.
  const bool say_shift = chord.shift && chord.key != Key::equal;
  return fmt::format("{}{}{}{}", chord.ctrl ? "Ctrl+" : "", chord.alt ? "Alt+" : "",
                     say_shift ? "Shift+" : "", key_name(chord.key));
}

std::string first_key_text(CommandId id) {
  const CommandEntry& entry = command_entry(id);
  const KeyChord first = entry.keys.front();
  if (entry.key_count == 1) return chord_text(first);
  const KeyChord last{static_cast<Key>(static_cast<int>(first.key) + entry.key_count - 1), first.ctrl,
                      first.shift, first.alt};
  return fmt::format("{} … {}", chord_text(first), chord_text(last));
}

std::string all_keys_text(CommandId id) {
  std::string text = first_key_text(id);
  for (const KeyChord& chord : std::span(command_entry(id).keys).subspan(1)) {
    const std::string more = chord_text(chord);
    if (!more.empty() && text.find(more) == std::string::npos) text += " or " + more;
  }
  return text;
}

}  // namespace headwise
