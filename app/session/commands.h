// Every command of the window in one table, assets/words/commands.txt. The menu, the keys, the command
// palette and the F1 sheet are made from it, so that they cannot disagree.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headwise {

// Keyboard keys by number, so that tables and tests can name them without a window.

// Numbered as GLFW numbers them: printable keys by their capital letter in ASCII.
enum class Key : int {
  none = 0,
  space = 32,
  minus = 45,
  zero = 48,
  equal = 61,
  escape = 256,
  enter = 257,
  tab = 258,
  backspace = 259,
  insert = 260,
  del = 261,
  right = 262,
  left = 263,
  down = 264,
  up = 265,
  page_up = 266,
  page_down = 267,
  home = 268,
  end = 269,
  f1 = 290,
  f5 = 294,
  f6 = 295,
  f10 = 299,
  f11 = 300,
  keypad_enter = 335,
  keypad_subtract = 333,
  keypad_add = 334,
};
constexpr Key letter(char capital) {
  return static_cast<Key>(capital);
}

struct KeyChord {
  Key key = Key::none;
  bool ctrl = false;
  bool shift = false;
  bool alt = false;
  friend bool operator==(const KeyChord&, const KeyChord&) = default;
};

enum class CommandId : int {
  open_scenario,
  save,
  save_scenario,
  export_picture,
  save_program,
  save_playlist,
  save_stage_picture,
  save_motion,
  save_slides,
  reopen_scenario,
  quit,
  undo,
  redo,
  copy_value,
  copy_table,
  copy_array,
  copy_mask,
  copy_program,
  copy_map_image,
  copy_stage_image,
  go_back,
  unpin,
  toggle_causal,
  toggle_mute,
  toggle_solo,
  toggle_freeze,
  clear_mask,
  forget_edits,
  next_step,
  previous_step,
  first_step,
  last_step,
  play,
  look_at_head,
  next_head,
  previous_head,
  toggle_view,
  pin_scenario,
  memory_order,
  all_the_way,
  turn_maps,
  colors_by_head,
  heads_of_model,
  full_size,
  train,
  slower_motion,
  faster_motion,
  reduce_motion,
  toggle_theme,
  larger_text,
  smaller_text,
  normal_text,
  stage_only,
  full_screen,
  spotlight,
  blank_screen,
  presenter_notes,
  new_playlist,
  reopen_playlist,
  walk_playlist,
  leave_playlist,
  take_back_answer,
  start_over,
  next_page,
  previous_page,
  restore_page,
  add_page,
  duplicate_page,
  update_page,
  remove_page,
  put_back_page,
  page_earlier,
  page_later,
  filmstrip,
  walk_cells,
  next_part,
  previous_part,
  open_menus,
  explain_control,
  compare,
  ask_question,
  find_by_name,
  opening_scene,
  first_steps,
  documentation,
  model_training,
  show_keys,
  show_log,
  about,
};
inline constexpr int command_count = static_cast<int>(CommandId::about) + 1;  // the last of them

// The menu that lists a command; none and keyboard: not in any,
// but keyboard commands are listed with the keys of controls.
enum class Menu { none, keyboard, file, edit, view, teach, help };

struct CommandEntry {
  CommandId id;
  std::string_view word;  // its name in CommandId
  Menu menu;
  bool separated = false;        // a rule above it in the menu
  std::string_view name;         // in the menu: "Export picture…"
  std::string_view what;         // in the sheet and in tooltips: one line
  std::array<KeyChord, 3> keys;  // the menu shows the first
  // more than 1: the keys following the first invoke the same command with argument 1, 2 …
  int key_count = 1;
  bool repeats = false;  // while its key is held down
};

// All commands; command_entries()[int(id)].id == id.
std::span<const CommandEntry> command_entries();
const CommandEntry& command_entry(CommandId id);

struct CommandCall {
  CommandId id;
  int argument = 0;
  friend bool operator==(const CommandCall&, const CommandCall&) = default;
};
// The command bound to a chord; none if the table has no such chord.
std::optional<CommandCall> find_command(KeyChord chord);
// The chord meant by the pressed keys: Shift with a letter means the letter, unless that is a chord of its
// own. The table and the sheet write letters as capitals.
KeyChord intended_chord(KeyChord pressed);

// "Ctrl+Shift+Z", "←", "0 … 9"; the chords of a command are joined by " or ". Empty without a key.
std::string chord_text(KeyChord chord);
std::string first_key_text(CommandId id);
std::string all_keys_text(CommandId id);
// "next page (Page Down)": what the command does, with its keys where it has some.
std::string label_with_keys(CommandId id);

}  // namespace headwise
