// Which control has keyboard focus. ImGui's own keyboard navigation would take the arrow keys and Space from
// the steps, so Headwise has its own: Tab and Shift+Tab go through the controls in drawing order, and past
// the last one back to the steps; F6 skips whole parts of the window.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "app/session/commands.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_edit.h"

namespace headwise {

// Which keys a control consumes while it has the focus.
enum class FocusKeys {
  press,   // Enter and Space press it
  choose,  // these and the arrows, Home and End choose
  slide,   // these and Page Up and Page Down
  text,    // all keys that type or move in a text; Ctrl+letter only if it edits (A, C, V, X)
};

// A list that lies over the window and takes some keys, whichever control has the focus.
enum class KeyedList {
  none,
  filtered,     // letters filter it
  completions,  // Tab takes its first word, Escape closes it
};

struct FocusOrder {
  ImGuiID focused = 0;                // 0: none; the arrow keys go through the steps
  FocusKeys keys = FocusKeys::press;  // of the focused control
  bool enabled = true;                // false while drawing what is behind a dialog: it gets no focus
  bool moved = false;                 // by Tab, in this frame: the control scrolls itself into view
  bool covered = false;               // a dialog or a menu lies over the window
  ImGuiID behind = 0;                 // what had the focus before that
  TextCursor behind_cursor;
  int unseen = 0;  // frames since the focused control was drawn

  // Of the focused control, if visible: what draw_focus_ring() outlines.
  ImVec2 ring_min, ring_max;
  bool ring = false;

  KeyedList list = KeyedList::none;       // drawn in the last frame
  KeyedList next_list = KeyedList::none;  // drawn so far in this one

  ImGuiID explained = 0;  // the focused control, if its tooltip was requested

  // Of the focused map
  int row = 0, column = 0;    // the cell reached with the arrow keys
  ImVec2 mouse;               // where it was in the last frame
  bool mouse_moved = false;   // in this one
  bool by_keys = false;       // the arrow keys were used after the mouse
  bool cell_pressed = false;  // Enter or Space, in this frame
  bool cell_held = false;     // one of them is down: the arrow keys act like dragging with the mouse

  // Of the focused text field
  TextCursor cursor;
  float scroll = 0.0f;  // pixels, for a line longer than its field
  std::string draft;    // the typed text, if the value cannot represent it ("1." of 1.5, "abc")
  ImGuiID draft_of = 0;

  ImGuiID before_press = 0;  // what had the focus at the last mouse press
  ImGuiID dragged = 0;       // the number field whose value the mouse drags; 0: none
  double drag_from = 0.0;    // its value when the drag began

  struct Stop {
    ImGuiID id;
    FocusKeys keys;
    int part;          // of the window: begin_focus_part()
    bool map = false;  // a plane of cells
  };
  int part = 0;
  std::vector<Stop> stops;   // drawn so far in this frame; sorted once it has ended
  std::vector<Stop> window;  // of the whole window when nothing last covered it
};

// Call before the first widget of a frame: Tab moves the focus, a mouse press outside every control returns
// it to the steps, and a control that is gone loses it.
void begin_focus_frame(FocusOrder& focus);
// Call after that: whether a dialog or a menu covers the window. Its controls then get no focus, and the one
// that had it gets it back when the cover is gone.
void cover_focus(FocusOrder& focus, bool covered);
// The stops that follow belong to this part of the window, a panel; Tab goes through the parts in the order
// of their numbers.
void begin_focus_part(FocusOrder& focus, int part);
// The part of the focused control; 0: none.
int focused_part(const FocusOrder& focus);
// Whether it is a plane of cells, to which the arrow keys, Enter and Space belong.
bool focuses_map(const FocusOrder& focus);
// Moves the focus to the first control of the next part, or of the previous one (by = −1); past the last one
// back to the steps.
void move_to_part(FocusOrder& focus, int by);
// Moves the focus to the first map on the stage and its first cell; does nothing if there is none.
void focus_first_map(FocusOrder& focus);
// Call for each control, right after its ImGui item: true if it has the focus. A mouse press gives the focus
// to a text; any other control is only pressed, and the arrow keys stay with the steps.
bool focus_stop(FocusOrder* focus, ImGuiID id, FocusKeys keys);
// The same for a rectangle that is not an ImGui item, and is not scrolled to.
bool focus_area(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusKeys keys);
// For a plane of rows × columns cells: the arrow keys go from cell to cell, starting at `first`. Returns the
// cell they point at; none while the focus is elsewhere, or the mouse was moved after the keys.
using FocusCell = std::pair<int, int>;
std::optional<FocusCell> focus_map(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusCell size,
                                   FocusCell first);
// Gives the focus to a control drawn in this frame or the next two;
// in a text field the cursor is put at this byte.
void take_focus(FocusOrder& focus, ImGuiID id, std::size_t cursor_at = 0);
// Returns the focus to the steps.
void release_focus(FocusOrder& focus);

// Whether the focused control consumes a chord, so that it is not a command.
bool focus_keeps(const FocusOrder& focus, KeyChord chord);

// Pressed in this frame (or repeated by being held).
bool key_pressed(Key key, bool repeat = true);
// Enter or Space pressed in this frame: what activates a focused button.
bool press_key_pressed();

// The outline of the control with keyboard focus.

// Call last in a frame: drawn over everything else, so that nothing hides it.
void draw_focus_ring(const WidgetContext& context);

}  // namespace headwise
