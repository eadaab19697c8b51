// Keyboard keys by number, so that tables and tests can name them without a window.
#pragma once

namespace headwise {

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

}  // namespace headwise
