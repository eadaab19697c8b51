#include "tests/app/walk/random_person.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/session/commands.h"

namespace headwise {
namespace {

constexpr std::string_view texts[] = {
    "a",
    "0",
    "7",
    "12",
    "3.5",
    "-1",
    "1e308",
    "nan",
    "inf",
    "1.",
    "..",
    " ",
    "The cat sat. It slept",
    "\"it's\" (so-called) {x}",
    "caf\xc3\xa9 na\xc3\xafve",
    "\xf0\x9f\x98\x80\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd8\xb3\xd9\x84\xd8\xa7\xd9\x85",
    "\xe6\xb3\xa8\xe6\x84\x8f\xe5\x8a\x9b",
    "e\xcc\x81\xcc\x82\xcc\x83",
    "a very long line that no field of this window has the room to show as a whole, and on"};

constexpr std::string_view keys[] = {
    "Tab",       "Shift+Tab",  "Enter",        "Space",  "Escape",   "Backspace", "Delete",
    "Left",      "Right",      "Up",           "Down",   "Home",     "End",       "Shift+Left",
    "Ctrl+Left", "Ctrl+Right", "Shift+Home",   "Ctrl+A", "Ctrl+C",   "Ctrl+V",    "Ctrl+X",
    "Ctrl+Z",    "Ctrl+Y",     "Ctrl+Shift+P", "PageUp", "PageDown", "Insert",    "KeypadEnter"};

struct Size {
  int width, height;
};
constexpr Size sizes[] = {{1, 1},     {2, 700},   {900, 3},    {60, 60},    {320, 240},  {640, 480},
                          {800, 600}, {900, 700}, {1000, 640}, {1280, 720}, {600, 1100}, {1600, 1000}};
constexpr float scales[] = {0.75f, 1.0f, 1.0f, 1.25f, 2.0f};

}  // namespace

RandomPerson::RandomPerson(std::uint64_t seed, std::vector<std::string> files)
    : state_(seed), files_(std::move(files)) {}

// SplitMix64 (Steele, Lea, Flood 2014): the same on every machine,
// which the distributions of <random> are not.
std::size_t RandomPerson::number(std::size_t count) {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return static_cast<std::size_t>((z ^ (z >> 31U)) % count);
}

RandomPerson::Place RandomPerson::place(const UiDriver& ui) {
  const std::vector<std::string> names = ui.names();
  if (!names.empty() && number(5) > 0) {
    const std::string& name = names[number(names.size())];
    const UiRect at = ui.rect(name);
    const double x = static_cast<double>(number(101)) / 100, y = static_cast<double>(number(101)) / 100;
    return {at.min.x + x * static_cast<double>(at.max.x - at.min.x),
            at.min.y + y * static_cast<double>(at.max.y - at.min.y), name};
  }
  const auto room = [](int side) { return static_cast<std::size_t>(side) + 20; };
  return {static_cast<double>(number(room(ui.width()))) - 10,
          static_cast<double>(number(room(ui.height()))) - 10, "anywhere"};
}

std::string RandomPerson::act(UiDriver& ui) {
  const std::size_t what = number(100);
  if (what < 45) return use_mouse(ui);
  if (what < 62) return press_command(ui);
  if (what < 78) return press_key(ui);
  if (what < 88) return type(ui);
  if (what < 94) return let_time_pass(ui);
  return change_window(ui);
}

std::string RandomPerson::use_mouse(UiDriver& ui) {
  const Place at = place(ui);
  switch (number(10)) {
    case 0:
    case 1:
      ui.move_to(at.x, at.y);
      return "move to " + at.name;
    case 2: {
      const Place to = place(ui);
      ui.drag(at.x, at.y, to.x, to.y, static_cast<int>(number(6)) + 1);
      return fmt::format("drag from {} to {}", at.name, to.name);
    }
    case 3: {
      // Within a control: sliders, brushes, text.
      const double dx = static_cast<double>(number(121)) - 60, dy = static_cast<double>(number(41)) - 20;
      ui.drag(at.x, at.y, at.x + dx, at.y + dy, 5);
      return fmt::format("drag within {}", at.name);
    }
    case 4:
      ui.double_click(at.x, at.y);
      return "double click on " + at.name;
    case 5: {
      const double notches = static_cast<double>(number(9)) - 4;
      ui.move_to(at.x, at.y).wheel(notches);
      return fmt::format("wheel {} on {}", notches, at.name);
    }
    case 6:
      ui.click(at.x, at.y, 1);
      return "right click on " + at.name;
    default:
      ui.click(at.x, at.y);
      return "click on " + at.name;
  }
}

std::string RandomPerson::press_command(UiDriver& ui) {
  const CommandEntry& entry = command_entries()[number(command_entries().size())];
  const KeyChord chord = entry.keys.front();
  if (chord.key == Key::none) return press_key(ui);
  const int key =
      static_cast<int>(chord.key) + static_cast<int>(number(static_cast<std::size_t>(entry.key_count)));
  constexpr int left_ctrl = 341, left_shift = 340;
  for (const bool down : {true, false}) {
    if (!down) ui.push(KeyChanged{key, false});
    if (chord.ctrl) ui.push(KeyChanged{left_ctrl, down});
    if (chord.shift) ui.push(KeyChanged{left_shift, down});
    if (down) ui.push(KeyChanged{key, true});
  }
  ui.becomes_still(8);
  return fmt::format("command {}", entry.name);
}

std::string RandomPerson::press_key(UiDriver& ui) {
  const std::string_view key = keys[number(std::size(keys))];
  ui.key(key);
  return fmt::format("key {}", key);
}

std::string RandomPerson::type(UiDriver& ui) {
  if (number(8) == 0 && !files_.empty()) {
    ui.key("Ctrl+A");
    const std::string& file = files_[number(files_.size())];
    ui.type(file);
    return "type " + file;
  }
  const std::string_view text = texts[number(std::size(texts))];
  if (number(2) == 0) ui.key("Ctrl+A");
  ui.type(text);
  return fmt::format("type {}", text);
}

std::string RandomPerson::change_window(UiDriver& ui) {
  switch (number(6)) {
    case 0:
    case 1: {
      const Size size = sizes[number(std::size(sizes))];
      ui.resize(size.width, size.height);
      return fmt::format("resize to {} × {}", size.width, size.height);
    }
    case 2: {
      if (number(4) != 0) return let_time_pass(ui);  // new fonts take their time
      const float scale = scales[number(std::size(scales))];
      ui.push(ScaleChanged{scale}).run_frames(2);
      return fmt::format("a display of scale {}", scale);
    }
    case 3: {
      std::vector<std::string> dropped;
      for (std::size_t i = number(3) + 1; i > 0 && !files_.empty(); --i)
        dropped.push_back(files_[number(files_.size())]);
      const std::string what = fmt::format("drop {}", fmt::join(dropped, ", "));
      ui.push(FilesDropped{std::move(dropped)}).run_frames(2);
      return what;
    }
    case 4:
      ui.push(MouseLeft{}).push(FocusChanged{false}).run_frames(2).push(FocusChanged{true}).run_frames(1);
      return "look at another window for a moment";
    default:
      ui.push(CloseRequested{}).run_frames(1);
      return "close the window";
  }
}

std::string RandomPerson::let_time_pass(UiDriver& ui) {
  constexpr std::array<double, 4> seconds{1.0 / 60.0, 0.2, 3.0, 1e-6};
  const double passed = seconds[number(seconds.size())];
  ui.run_frames(static_cast<int>(number(4)) + 1, passed);
  return fmt::format("wait for frames of {} s", passed);
}

}  // namespace headwise
