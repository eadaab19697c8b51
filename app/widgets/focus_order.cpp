#include "app/widgets/focus_order.h"

#include <algorithm>

namespace headwise {

bool key_pressed(Key key, bool repeat) {
  return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}

void take_focus(FocusOrder& focus, ImGuiID id, std::size_t cursor_at) {
  focus.focused = id;
  focus.cursor = {cursor_at, cursor_at};
  focus.scroll = 0.0f;
  focus.draft.clear();
  focus.draft_of = 0;
}

void release_focus(FocusOrder& focus) {
  take_focus(focus, 0);
}

void begin_focus_frame(FocusOrder& focus) {
  const auto stop = std::find_if(focus.stops.begin(), focus.stops.end(),
                                 [&](const FocusOrder::Stop& s) { return s.id == focus.focused; });
  if (focus.focused != 0 && stop == focus.stops.end()) release_focus(focus);
  focus.moved = false;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    focus.before_press = focus.focused;
    focus.dragged = 0;
    release_focus(focus);
  }
  if (key_pressed(Key::tab) && !ImGui::GetIO().KeyCtrl && !focus.stops.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(focus.stops.size());
    // Place 0 is the stage, the controls follow.
    std::ptrdiff_t place = focus.focused == 0 ? 0 : stop - focus.stops.begin() + 1;
    place = (place + (ImGui::GetIO().KeyShift ? count : 1)) % (count + 1);
    take_focus(focus, place == 0 ? 0 : focus.stops[static_cast<std::size_t>(place - 1)].id);
    focus.moved = true;
  }
  focus.stops.clear();
}

bool focus_stop(FocusOrder* focus, ImGuiID id, FocusKeys keys) {
  if (!focus || !focus->enabled) return false;
  focus->stops.push_back({id, keys});
  const bool clicked = ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (clicked && keys == FocusKeys::text) take_focus(*focus, id);
  if (focus->focused != id) return false;
  focus->keys = keys;
  if (focus->moved && !ImGui::IsItemVisible()) ImGui::SetScrollHereY(0.5f);
  return true;
}

bool focus_keeps(const FocusOrder& focus, KeyChord chord) {
  if (focus.focused == 0) return false;
  const Key key = chord.key;
  const bool enter = key == Key::enter || key == Key::keypad_enter;
  const bool arrow = key == Key::left || key == Key::right || key == Key::up || key == Key::down ||
                     key == Key::home || key == Key::end;
  switch (focus.keys) {
    case FocusKeys::press:
      return enter || (key == Key::space && !chord.ctrl);
    case FocusKeys::choose:
      return enter || (key == Key::space && !chord.ctrl) || (arrow && !chord.ctrl);
    case FocusKeys::text:
      break;
  }
  if (arrow || enter || key == Key::backspace || key == Key::del || key == Key::insert) return true;
  if (chord.ctrl) {
    return !chord.shift &&
           (key == letter('A') || key == letter('C') || key == letter('V') || key == letter('X'));
  }
  return static_cast<int>(key) < static_cast<int>(Key::escape) || key == Key::page_up ||
         key == Key::page_down;
}

}  // namespace headwise
