#include "app/session/commands.h"

#include <fmt/format.h>

namespace headwise {
namespace {

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
    case Key::f5:
      return "F5";
    case Key::f6:
      return "F6";
    case Key::f10:
      return "F10";
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

std::optional<CommandCall> find_command(KeyChord chord) {
  for (const CommandEntry& entry : command_entries()) {
    for (const KeyChord& own : entry.keys) {
      if (own.key == Key::none || own.ctrl != chord.ctrl || own.shift != chord.shift || own.alt != chord.alt)
        continue;
      const int argument = static_cast<int>(chord.key) - static_cast<int>(own.key);
      if (argument >= 0 && argument < entry.key_count) return CommandCall{entry.id, argument};
    }
  }
  return std::nullopt;
}

KeyChord meant_by(KeyChord pressed) {
  const bool is_letter = pressed.key >= letter('A') && pressed.key <= letter('Z');
  if (is_letter && pressed.shift && !pressed.ctrl && !pressed.alt && !find_command(pressed))
    pressed.shift = false;
  return pressed;
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

std::string what_and_keys(CommandId id) {
  const std::string_view what = command_entry(id).what;
  const std::string keys = all_keys_text(id);
  return keys.empty() ? std::string(what) : fmt::format("{} ({})", what, keys);
}

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

// An entry under construction.
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
    command(CommandId::save, Menu::file, "Save",
            "save the pages being written, else the scenario, in their file", {ctrl(letter('S'))}),
    command(CommandId::save_scenario, Menu::file, "Save scenario…", "save everything this result depends on",
            {ctrl_shift(letter('S'))}),
    command(CommandId::export_picture, Menu::file, "Export picture…",
            "save the stage as you see it (.png, .svg, .pdf), or the numbers of its map (.csv, .npy)",
            {ctrl(letter('E'))})
        .below_rule(),
    command(CommandId::save_program, Menu::file, "Save program…",
            "save this computation as a Python program (.py), in the style chosen in the inspector"),
    command(CommandId::save_playlist, Menu::file, "Save playlist…",
            "save the playlist's pages, with their scenarios, as a file (.json)"),
    command(CommandId::save_stage_picture, Menu::file, "Save the stage as picture…",
            "save the stage at slide size as a .png, .svg or .pdf file", {ctrl_shift(letter('E'))})
        .below_rule(),
    command(CommandId::save_motion, Menu::file, "Save animation…",
            "save this step's animation as an animated .png file"),
    command(CommandId::save_slides, Menu::file, "Save slides…",
            "save every page of the playlist as a .png file"),
    command(CommandId::reopen_scenario, Menu::file, "Restore last session",
            "open the scenario you had open when you last closed the window"),
    command(CommandId::quit, Menu::file, "Quit", "close the window", {ctrl(letter('Q'))}).below_rule(),
    command(CommandId::undo, Menu::edit, "Undo", "undo the last edit", {ctrl(letter('Z'))}).repeating(),
    command(CommandId::redo, Menu::edit, "Redo", "redo the edit you undid",
            {ctrl(letter('Y')), ctrl_shift(letter('Z'))})
        .repeating(),
    command(CommandId::copy_value, Menu::edit, "Copy value",
            "copy the number in the pinned cell or under the mouse", {ctrl(letter('C'))})
        .below_rule(),
    command(CommandId::copy_table, Menu::edit, "Copy map as table",
            "copy this head's map, tab-separated, for a spreadsheet", {ctrl_shift(letter('C'))}),
    command(CommandId::copy_array, Menu::edit, "Copy map as np.array", "copy this head's map as NumPy source"),
    command(CommandId::copy_mask, Menu::edit, "Copy mask as booleans",
            "copy this head's mask as a boolean np.array, with True as the setup defines it"),
    command(CommandId::copy_program, Menu::edit, "Copy program",
            "copy this computation as a Python program, in the style chosen in the inspector"),
    command(CommandId::copy_map_image, Menu::edit, "Copy map as image", "copy this head's map as a picture"),
    command(CommandId::copy_stage_image, Menu::edit, "Copy stage as image",
            "copy the stage at slide size as a picture"),
    command(CommandId::go_back, Menu::edit, "Back",
            "go back to the cell or the page from which you followed a link",
            {plain(Key::backspace), alt(Key::left)})
        .below_rule(),
    command(CommandId::unpin, Menu::edit, "Unpin",
            "unpin the cell; also cancels a computation, leaves a field, stops playing", {plain(Key::escape)}),
    command(CommandId::toggle_causal, Menu::edit, "Causal mask", "switch the causal mask on or off",
            {plain(letter('C'))})
        .below_rule(),
    command(CommandId::toggle_mute, Menu::edit, "Mute head", "mute or unmute the selected head",
            {plain(letter('M'))}),
    command(CommandId::toggle_solo, Menu::edit, "Solo head",
            "mute every head but the selected one; again: unmute them all", {plain(letter('S'))}),
    command(CommandId::toggle_freeze, Menu::edit, "Freeze head",
            "freeze the selected head's attention weights, or unfreeze them", {plain(letter('H'))}),
    command(CommandId::clear_mask, Menu::edit, "Clear painted mask", "remove the pairs painted into the mask")
        .below_rule(),
    command(CommandId::forget_edits, Menu::edit, "Discard manual edits",
            "discard every number set by hand and every painted pair of the mask"),
    command(CommandId::next_step, Menu::view, "Next step", "go to the next step", {plain(Key::right)})
        .repeating()
        .below_rule(),
    command(CommandId::previous_step, Menu::view, "Previous step", "go to the previous step", {plain(Key::left)})
        .repeating(),
    command(CommandId::first_step, Menu::view, "First step", "go to the inputs", {plain(Key::home)}),
    command(CommandId::last_step, Menu::view, "Last step", "go to the output", {plain(Key::end)}),
    command(CommandId::play, Menu::view, "Play", "play the steps one after another, or stop",
            {plain(Key::space)}),
    command(CommandId::look_at_head, Menu::none, "Head 0 … 9", "show this head", {plain(Key::zero)})
        .with_arguments(10),
    command(CommandId::next_head, Menu::view, "Next head", "show the next head", {plain(Key::down)})
        .repeating()
        .below_rule(),
    command(CommandId::previous_head, Menu::view, "Previous head", "show the previous head", {plain(Key::up)})
        .repeating(),
    command(CommandId::toggle_view, Menu::view, "Another view",
            "the next view of the stage, from one head to the model's prediction", {plain(letter('A'))})
        .below_rule(),
    command(CommandId::pin_scenario, Menu::view, "Pin for comparison",
            "keep this result, and show it in the Compare view beside later ones", {plain(letter('P'))}),
    command(CommandId::memory_order, Menu::view, "Memory order",
            "show how view and transpose order the floats in memory, or go back to one head",
            {plain(letter('O'))}),
    command(CommandId::all_the_way, Menu::view, "All the way",
            "highlight everything a number depends on, back to the inputs, and everything it feeds",
            {plain(letter('W'))}),
    command(CommandId::turn_maps, Menu::view, "Queries as columns",
            "show queries as columns, or as rows again", {plain(letter('Q'))}),
    command(CommandId::colors_by_head, Menu::view, "Colour scale per head",
            "scale the colours of small maps to each head's own maximum, or to that of all heads"),
    command(CommandId::heads_of_model, Menu::view, "Heads of the model…",
            "every head of every layer, with measured scores, to find those worth a look", {plain(letter('R'))})
        .below_rule(),
    command(CommandId::full_size, Menu::view, "Full size…",
            "run attention at the size of real models and see every head's map", {plain(letter('Z'))}),
    command(CommandId::train, Menu::view, "Train: watch it learn…",
            "train a small model and watch its heads learn; you can go back to every step",
            {plain(letter('N'))}),
    command(CommandId::slower_motion, Menu::view, "Slower motion", "play each step at half speed",
            {plain(letter(','))})
        .repeating()
        .below_rule(),
    command(CommandId::faster_motion, Menu::view, "Faster motion", "play each step at double speed",
            {plain(letter('.'))})
        .repeating(),
    command(CommandId::reduce_motion, Menu::view, "Reduce motion",
            "fade between steps instead of moving the numbers, or move them again"),
    command(CommandId::toggle_theme, Menu::view, "Another theme",
            "dark, light, or for a projector: black on white, thick lines, larger type", {plain(letter('T'))})
        .below_rule(),
    command(CommandId::larger_text, Menu::view, "Larger text", "enlarge everything",
            {ctrl(Key::equal), ctrl_shift(Key::equal), ctrl(Key::keypad_add)})
        .repeating(),
    command(CommandId::smaller_text, Menu::view, "Smaller text", "shrink everything",
            {ctrl(Key::minus), ctrl(Key::keypad_subtract)})
        .repeating(),
    command(CommandId::normal_text, Menu::view, "Normal text", "return to the normal size", {ctrl(Key::zero)}),
    command(CommandId::stage_only, Menu::teach, "Stage alone",
            "show only the steps and the stage, as large as fits, or show everything again",
            {plain(letter('F'))}),
    command(CommandId::full_screen, Menu::teach, "Full-screen stage",
            "show only the stage, on the whole screen, or leave full screen", {plain(Key::f11)}),
    command(CommandId::spotlight, Menu::teach, "Spotlight",
            "dim everything but the selected cell and what it was made from, or stop", {plain(letter('L'))}),
    command(CommandId::blank_screen, Menu::teach, "Blank screen",
            "darken the window, so that the class looks at you; any key or a click lights it again",
            {plain(letter('B'))}),
    command(CommandId::presenter_notes, Menu::teach, "Presenter notes",
            "show or hide the notes of the page, a clock and the next page below the stage",
            {plain(letter('V'))}),
    command(CommandId::new_playlist, Menu::teach, "New playlist",
            "start a playlist with what the window shows as its first page")
        .below_rule(),
    command(CommandId::reopen_playlist, Menu::teach, "Reopen unsaved playlist",
            "reopen the playlist you left unsaved"),
    command(CommandId::walk_playlist, Menu::teach, "Present playlist",
            "show the playlist on the whole screen, from the page that is shown or that you left",
            {plain(Key::f5)}),
    command(CommandId::leave_playlist, Menu::teach, "Leave playlist",
            "return to your own scenario, or from a visited lesson to your own pages (Esc)"),
    command(CommandId::take_back_answer, Menu::teach, "Answer again",
            "forget the answer you gave on this page; it asks again"),
    command(CommandId::start_over, Menu::teach, "Start over",
            "forget all answers given, as after a rehearsal, and go to the first page"),
    command(CommandId::next_page, Menu::teach, "Next page",
            "go to the playlist's next page, or without a playlist to the next step", {plain(Key::page_down)})
        .repeating(),
    command(CommandId::previous_page, Menu::teach, "Previous page",
            "go to the playlist's previous page, or without a playlist to the previous step",
            {plain(Key::page_up)})
        .repeating(),
    command(CommandId::restore_page, Menu::teach, "Restore page",
            "undo your changes to the settings and the place of this page"),
    command(CommandId::add_page, Menu::teach, "Add page",
            "add what the window shows as a page, and write its caption", {ctrl(letter('M'))})
        .below_rule(),
    command(CommandId::duplicate_page, Menu::teach, "Duplicate page",
            "insert a copy of this page, with its words, after it", {ctrl(letter('D'))}),
    command(CommandId::update_page, Menu::teach, "Update page",
            "make this page show what the window shows now; its words stay", {ctrl(letter('U'))}),
    command(CommandId::remove_page, Menu::teach, "Remove page", "remove this page from the playlist"),
    command(CommandId::put_back_page, Menu::teach, "Put page back",
            "undo the last Remove page, or the last Update page"),
    command(CommandId::page_earlier, Menu::teach, "Move page earlier",
            "move this page before the previous one", {alt(Key::up)})
        .repeating(),
    command(CommandId::page_later, Menu::teach, "Move page later", "move this page after the next one",
            {alt(Key::down)})
        .repeating(),
    command(CommandId::filmstrip, Menu::teach, "Filmstrip",
            "show or hide small pictures of all pages beside the stage"),
    command(CommandId::walk_cells, Menu::keyboard, "Walk the cells",
            "select cells on the stage: arrows move, Enter pins, Esc leaves",
            {plain(Key::enter), plain(Key::keypad_enter)}),
    command(CommandId::next_part, Menu::keyboard, "Next part", "move to the next panel's controls",
            {plain(Key::f6)})
        .repeating(),
    command(CommandId::previous_part, Menu::keyboard, "Previous part",
            "move to the previous panel's controls", {shift(Key::f6)})
        .repeating(),
    command(CommandId::open_menus, Menu::keyboard, "Menus",
            "open the first menu; the arrows move through all of them", {plain(Key::f10)}),
    command(CommandId::explain_control, Menu::keyboard, "What is this?", "explain the focused control",
            {shift(Key::f1)}),
    command(CommandId::compare, Menu::help, "Is it the same?",
            "compare projection layouts, many heads with one, and soft with hard look-up, in numbers",
            {plain(letter('I'))}),
    command(CommandId::ask_question, Menu::help, "Ask a question…",
            "find the page, setting or command that answers a question in your words"),
    command(CommandId::find_by_name, Menu::help, "Commands…",
            "find any command, step, view, brush, setting, preset or head by typing a few letters",
            {ctrl_shift(letter('P'))}),
    command(CommandId::opening_scene, Menu::help, "Intro",
            "show the opening sentence again, and the word that one head looks at from “it”"),
    command(CommandId::first_steps, Menu::help, "First steps",
            "show what to try first at the top of the window, until it is done"),
    command(CommandId::documentation, Menu::help, "Documentation",
            "read how everything works, with the glossary of all terms, here or in your web browser"),
    command(CommandId::model_training, Menu::help, "How the models were trained",
            "read on which texts the built-in models were trained, and for how long"),
    command(CommandId::show_keys, Menu::help, "Keys", "show or hide this sheet", {plain(Key::f1)}),
    command(CommandId::show_log, Menu::help, "Error log",
            "show the errors logged so far, and the file they are written to")
        .below_rule(),
    command(CommandId::about, Menu::help, "About Headwise",
            "show the version and the letters used for shapes"),
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
