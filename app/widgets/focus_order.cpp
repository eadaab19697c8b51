#include "app/widgets/focus_order.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <imgui_internal.h>

namespace headwise {
namespace {

constexpr int most_unseen = 2;

bool held(Key key) {
  return ImGui::IsKeyDown(static_cast<int>(key));
}

// Moves the focus to the stop `by` places on, where 0 is no stop.
void step_to(FocusOrder& focus, const std::vector<FocusOrder::Stop>& stops, std::ptrdiff_t by) {
  const auto count = std::ssize(stops);
  const auto stop = std::ranges::find(stops, focus.focused, &FocusOrder::Stop::id);
  const std::ptrdiff_t from = focus.focused == 0 || stop == stops.end() ? 0 : stop - stops.begin() + 1;
  const std::ptrdiff_t place = (from + by + count + 1) % (count + 1);
  take_focus(focus, place == 0 ? 0 : stops[static_cast<std::size_t>(place - 1)].id);
  focus.moved = true;
}

// The part of a rectangle inside the window that it is drawn in.
void place_ring(FocusOrder& focus, ImVec2 min, ImVec2 max) {
  const ImRect clip = ImGui::GetCurrentWindow()->ClipRect;
  focus.ring_min = {std::max(min.x, clip.Min.x), std::max(min.y, clip.Min.y)};
  focus.ring_max = {std::min(max.x, clip.Max.x), std::min(max.y, clip.Max.y)};
  focus.ring = focus.ring_min.x < focus.ring_max.x && focus.ring_min.y < focus.ring_max.y;
}

}  // namespace

bool key_pressed(Key key, bool repeat) {
  return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}

bool press_key_pressed() {
  return key_pressed(Key::enter, false) || key_pressed(Key::keypad_enter, false) ||
         key_pressed(Key::space, false);
}

void take_focus(FocusOrder& focus, ImGuiID id, std::size_t cursor_at) {
  focus.focused = id;
  focus.unseen = 0;
  focus.explained = 0;
  focus.by_keys = false;
  focus.cursor = {cursor_at, cursor_at};
  focus.scroll = 0.0f;
  focus.draft.clear();
  focus.draft_of = 0;
}

void release_focus(FocusOrder& focus) {
  take_focus(focus, 0);
}

void begin_focus_frame(FocusOrder& focus) {
  std::ranges::stable_sort(focus.stops, {}, &FocusOrder::Stop::part);
  const bool drawn = std::ranges::find(focus.stops, focus.focused, &FocusOrder::Stop::id) != focus.stops.end();
  focus.unseen = drawn ? 0 : focus.unseen + 1;
  if (focus.focused != 0 && focus.unseen > most_unseen) release_focus(focus);
  focus.moved = focus.ring = focus.cell_pressed = focus.cell_held = false;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    focus.before_press = focus.focused;
    focus.dragged = 0;
    release_focus(focus);
  }
  // ImGui does not count movement into the window.
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  focus.mouse_moved = mouse.x != focus.mouse.x || mouse.y != focus.mouse.y;
  focus.mouse = mouse;
  if (focus.mouse_moved) focus.by_keys = false;
  focus.list = std::exchange(focus.next_list, KeyedList::none);
  const bool completes = focus.list == KeyedList::completions && !ImGui::GetIO().KeyShift;
  if (key_pressed(Key::tab) && !ImGui::GetIO().KeyCtrl && !focus.stops.empty() && !completes)
    step_to(focus, focus.stops, ImGui::GetIO().KeyShift ? -1 : 1);
  if (!focus.covered) focus.window = focus.stops;
  focus.stops.clear();
  focus.part = 0;
}

void cover_focus(FocusOrder& focus, bool covered) {
  if (covered && !focus.covered) {
    focus.behind = focus.focused;
    focus.behind_cursor = focus.cursor;
    release_focus(focus);
  } else if (!covered && focus.covered) {
    // Whatever closed the dialog may have moved the focus elsewhere.
    const bool sent =
        std::ranges::find(focus.window, focus.focused, &FocusOrder::Stop::id) != focus.window.end();
    if (!sent) {
      take_focus(focus, focus.behind);
      focus.cursor = focus.behind_cursor;
    }
    focus.behind = 0;
  }
  focus.covered = covered;
  focus.enabled = !covered;
}

void begin_focus_part(FocusOrder& focus, int part) {
  focus.part = part;
}

int focused_part(const FocusOrder& focus) {
  const auto stop = std::ranges::find(focus.window, focus.focused, &FocusOrder::Stop::id);
  return focus.focused == 0 || stop == focus.window.end() ? 0 : stop->part;
}

bool focuses_map(const FocusOrder& focus) {
  const auto stop = std::ranges::find(focus.window, focus.focused, &FocusOrder::Stop::id);
  return focus.focused != 0 && stop != focus.window.end() && stop->map;
}

void move_to_part(FocusOrder& focus, int by) {
  const auto& stops = focus.window;
  if (stops.empty()) return;
  const auto stop = std::ranges::find(stops, focus.focused, &FocusOrder::Stop::id);
  const bool none = focus.focused == 0 || stop == stops.end();
  const auto first_of = [&](int part) { return std::ranges::find(stops, part, &FocusOrder::Stop::part); };
  auto to = stops.end();
  if (by > 0) {
    to = none ? stops.begin()
              : std::find_if(stop, stops.end(), [&](const auto& s) { return s.part > stop->part; });
  } else if (none) {
    to = first_of(stops.back().part);
  } else if (const auto own = first_of(stop->part); own != stops.begin()) {
    to = first_of((own - 1)->part);
  }
  take_focus(focus, to == stops.end() ? 0 : to->id);
  focus.moved = true;
}

void focus_first_map(FocusOrder& focus) {
  const auto map = std::ranges::find(focus.window, true, &FocusOrder::Stop::map);
  if (map == focus.window.end()) return;
  take_focus(focus, map->id);
  focus.moved = focus.by_keys = true;
}

bool focus_area(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusKeys keys) {
  if (!focus || !focus->enabled) return false;
  focus->stops.push_back({id, keys, focus->part});
  if (focus->focused != id) return false;
  focus->keys = keys;
  place_ring(*focus, min, max);
  return true;
}

bool focus_stop(FocusOrder* focus, ImGuiID id, FocusKeys keys) {
  if (!focus || !focus->enabled) return false;
  const bool clicked = ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  if (clicked && keys == FocusKeys::text) take_focus(*focus, id);
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  if (!focus_area(focus, id, min, max, keys)) return false;
  const ImRect clip = ImGui::GetCurrentWindow()->ClipRect;
  if (focus->moved && (min.y < clip.Min.y || max.y > clip.Max.y)) ImGui::SetScrollHereY(0.5f);
  return true;
}

std::optional<FocusCell> focus_map(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusCell size,
                                   FocusCell first) {
  const auto [rows, columns] = size;
  if (rows <= 0 || columns <= 0) return std::nullopt;
  const bool focused = focus_area(focus, id, min, max, FocusKeys::choose);
  if (focus && focus->enabled) focus->stops.back().map = true;
  if (!focused) return std::nullopt;
  if (focus->moved) std::tie(focus->row, focus->column) = first;
  const int row = focus->row, column = focus->column;
  const bool far = ImGui::GetIO().KeyCtrl;  // to the edge
  if (key_pressed(Key::up)) focus->row = far ? 0 : row - 1;
  if (key_pressed(Key::down)) focus->row = far ? rows - 1 : row + 1;
  if (key_pressed(Key::left)) focus->column = far ? 0 : column - 1;
  if (key_pressed(Key::right)) focus->column = far ? columns - 1 : column + 1;
  if (key_pressed(Key::home)) focus->column = 0;
  if (key_pressed(Key::end)) focus->column = columns - 1;
  focus->row = std::clamp(focus->row, 0, rows - 1);
  focus->column = std::clamp(focus->column, 0, columns - 1);
  focus->cell_pressed = !focus->moved && press_key_pressed();  // the key that led here does not press it
  focus->cell_held = held(Key::enter) || held(Key::space);
  const bool moved = row != focus->row || column != focus->column;
  focus->by_keys = focus->by_keys || moved || focus->cell_pressed;
  if (!focus->by_keys) return std::nullopt;
  return FocusCell{focus->row, focus->column};
}

bool focus_keeps(const FocusOrder& focus, KeyChord chord) {
  const Key key = chord.key;
  if (focus.list == KeyedList::completions && key == Key::escape) return true;
  const bool types = static_cast<int>(key) < static_cast<int>(Key::escape) || key == Key::backspace;
  if (focus.list == KeyedList::filtered && types && !chord.ctrl && !chord.alt) return true;
  if (focus.focused == 0) return false;
  const bool enter = key == Key::enter || key == Key::keypad_enter;
  const bool arrow = key == Key::left || key == Key::right || key == Key::up || key == Key::down ||
                     key == Key::home || key == Key::end;
  switch (focus.keys) {
    case FocusKeys::press:
      return enter || (key == Key::space && !chord.ctrl);
    case FocusKeys::choose:
    case FocusKeys::slide: {
      const bool page = focus.keys == FocusKeys::slide && (key == Key::page_up || key == Key::page_down);
      return enter || (key == Key::space && !chord.ctrl) || (arrow && !chord.alt) || page;
    }
    case FocusKeys::text:
      break;
  }
  if (arrow || enter || key == Key::backspace || key == Key::del || key == Key::insert) return true;
  if (chord.ctrl) {
    return !chord.shift &&
           (key == letter('A') || key == letter('C') || key == letter('V') || key == letter('X'));
  }
  return static_cast<int>(key) < static_cast<int>(Key::escape) || key == Key::page_up || key == Key::page_down;
}

void draw_focus_ring(const WidgetContext& context) {
  const FocusOrder* focus = context.focus;
  if (!focus || focus->focused == 0 || !focus->ring) return;
  const float thick = std::max(2.0f, std::round(2.0f * context.scale * context.palette.stroke));
  const float out = std::round(0.5f * thick) + 1.0f;
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  // A control at the window's edge has its ring inside the window.
  const float inset = 0.5f * thick;
  const ImVec2 min{std::max(std::floor(focus->ring_min.x) - out, inset),
                   std::max(std::floor(focus->ring_min.y) - out, inset)};
  const ImVec2 max{std::min(std::ceil(focus->ring_max.x) + out, window.x - inset),
                   std::min(std::ceil(focus->ring_max.y) + out, window.y - inset)};
  ImGui::GetForegroundDrawList()->AddRect(min, max, im_color(context.palette.focus), context.px(4), 0, thick);
}

}  // namespace headwise
