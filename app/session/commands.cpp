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

}  // namespace headwise
