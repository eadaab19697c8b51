#include "app/session/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/files/input_file.h"
#include "core/files/word_rows.h"

namespace headwise {

std::string_view embedded_words_commands();

namespace {

using NamedKey = std::pair<Key, std::string_view>;
// As they are printed on a keyboard; any other key is a character.
constexpr NamedKey named_keys[] = {{Key::none, ""},
                                   {Key::space, "Space"},
                                   {Key::minus, "−"},
                                   {Key::equal, "+"},
                                   {Key::escape, "Esc"},
                                   {Key::enter, "Enter"},
                                   {Key::tab, "Tab"},
                                   {Key::backspace, "Backspace"},
                                   {Key::insert, "Insert"},
                                   {Key::del, "Delete"},
                                   {Key::right, "→"},
                                   {Key::left, "←"},
                                   {Key::down, "↓"},
                                   {Key::up, "↑"},
                                   {Key::page_up, "Page Up"},
                                   {Key::page_down, "Page Down"},
                                   {Key::home, "Home"},
                                   {Key::end, "End"},
                                   {Key::f1, "F1"},
                                   {Key::f5, "F5"},
                                   {Key::f6, "F6"},
                                   {Key::f10, "F10"},
                                   {Key::f11, "F11"},
                                   {Key::keypad_enter, "keypad Enter"},
                                   {Key::keypad_add, "keypad +"},
                                   {Key::keypad_subtract, "keypad −"}};

std::string key_name(Key key) {
  const auto* const named = std::ranges::find(named_keys, key, &NamedKey::first);
  return named != std::end(named_keys) ? std::string(named->second) : std::string(1, static_cast<char>(key));
}

// "Ctrl+Shift+Z", as chord_text writes it. Throws Error(input) for a key that has no name.
KeyChord chord_of(std::string_view text) {
  const auto takes = [&text](std::string_view modifier) {
    if (!text.starts_with(modifier)) return false;
    text.remove_prefix(modifier.size());
    return true;
  };
  KeyChord chord;
  chord.ctrl = takes("Ctrl+");
  chord.alt = takes("Alt+");
  chord.shift = takes("Shift+");
  const auto* const named = std::ranges::find(named_keys, text, &NamedKey::second);
  if (named == std::end(named_keys) && text.size() != 1)
    refuse_input("commands.txt", "there is no such key", std::string(text));
  chord.key = named != std::end(named_keys) ? named->first : letter(text.front());
  return chord;
}

constexpr FieldWord<CommandEntry> field_words[] = {{"rule", field<&CommandEntry::separated>},
                                                   {"repeats", field<&CommandEntry::repeats>},
                                                   {"keys", field<&CommandEntry::key_count>}};

std::vector<CommandEntry> read_commands() {
  constexpr std::string_view file = "commands.txt";
  constexpr std::array<std::string_view, 7> menus{"none", "keyboard", "file", "edit",
                                                  "view", "teach",    "help"};
  std::vector<CommandEntry> entries;
  for (const auto& [id, value] : word_rows(embedded_words_commands(), file)) {
    std::vector<std::string_view> parts = parts_in(value);
    parts.resize(7);
    const auto menu = std::ranges::find(menus, parts[0]) - menus.begin();
    if (menu == std::ssize(menus))
      refuse_input("commands.txt: " + std::string(id), "there is no such menu", std::string(parts[0]));
    CommandEntry entry{.id = static_cast<CommandId>(entries.size()),
                       .word = id,
                       .menu = static_cast<Menu>(menu),
                       .name = parts[1],
                       .what = parts[2],
                       .keys = {chord_of(parts[4]), chord_of(parts[5]), chord_of(parts[6])}};
    read_fields(parts[3], entry, field_words, file, id);
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace

std::span<const CommandEntry> command_entries() {
  static const std::vector<CommandEntry> entries = read_commands();
  return entries;
}

const CommandEntry& command_entry(CommandId id) {
  return command_entries()[static_cast<std::size_t>(id)];
}

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

KeyChord intended_chord(KeyChord pressed) {
  const bool is_letter = pressed.key >= letter('A') && pressed.key <= letter('Z');
  if (is_letter && pressed.shift && !pressed.ctrl && !pressed.alt && !find_command(pressed))
    pressed.shift = false;
  return pressed;
}

std::string chord_text(KeyChord chord) {
  if (chord.key == Key::none) return "";
  // "+" is typed with Shift on most keyboards; saying so would only confuse.
  const bool names_shift = chord.shift && chord.key != Key::equal;
  return fmt::format("{}{}{}{}", chord.ctrl ? "Ctrl+" : "", chord.alt ? "Alt+" : "",
                     names_shift ? "Shift+" : "", key_name(chord.key));
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

std::string label_with_keys(CommandId id) {
  const std::string_view what = command_entry(id).what;
  const std::string keys = all_keys_text(id);
  return keys.empty() ? std::string(what) : fmt::format("{} ({})", what, keys);
}

}  // namespace headwise
