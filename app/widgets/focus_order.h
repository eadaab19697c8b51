// Which control the keyboard speaks to. ImGui's own keyboard navigation would take the arrows and Space from
// the steps, so Headwise has its own: Tab and Shift+Tab go through the controls in the order they are drawn,
// and past the last one back to the steps; whole parts of the window are stepped over.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/keys.h"
#include "app/widgets/text_edit.h"

namespace headwise {

// Which keys a control keeps for itself while it has the focus.
enum class FocusKeys {
  press,   // Enter and Space press it
  choose,  // these and the arrows, Home and End choose
  slide,   // these and Page Up and Page Down
  text,    // everything that types or moves in a text; Ctrl+letter only where it edits (A, C, V, X)
};

struct FocusOrder {
  ImGuiID focused = 0;                // 0: none; the arrows walk through the steps
  FocusKeys keys = FocusKeys::press;  // of the focused control
  bool enabled = true;                // false while something behind a dialog is drawn: it gets no focus
  bool moved = false;                 // by Tab, in this frame: the control scrolls itself into view
  bool covered = false;               // a dialog or a menu lies over the window
  ImGuiID behind = 0;                 // what had the focus when it came
  TextCursor behind_cursor;
  int unseen = 0;  // frames since the focused control was drawn

  // Of the focused control, where it is to be seen: what draw_focus_ring() outlines.
  ImVec2 ring_min, ring_max;
  bool ring = false;

  ImGuiID explained = 0;  // the focused control, where its tooltip was asked for

  // Of the focused map
  int row = 0, column = 0;    // the cell that its arrows have reached
  ImVec2 mouse;               // where it was in the last frame
  bool mouse_moved = false;   // in this one
  bool by_keys = false;       // they were moved after the mouse was
  bool cell_pressed = false;  // Enter or Space, in this frame
  bool cell_held = false;     // one of them is down: what the mouse does by dragging, the arrows do now

  // Of the focused text field
  TextCursor cursor;
  float scroll = 0.0f;  // pixels, of a line that is longer than its field
  std::string draft;    // what is typed, where the value cannot hold it ("1." of 1.5, "abc")
  ImGuiID draft_of = 0;

  ImGuiID before_press = 0;  // what had the focus when the mouse was pressed last
  ImGuiID dragged = 0;       // the number field whose value the mouse drags; 0: none
  double drag_from = 0.0;    // its value when that began

  struct Stop {
    ImGuiID id;
    FocusKeys keys;
    int part;          // of the window: begin_focus_part()
    bool map = false;  // a plane of cells
  };
  int part = 0;
  std::vector<Stop> stops;   // drawn so far in this frame; in their order once it has ended
  std::vector<Stop> window;  // of the whole window when nothing covered it last
};

// Before the first widget of a frame: Tab moves the focus, a mouse press outside every control gives it back
// to the steps, and a control that is gone loses it.
void begin_focus_frame(FocusOrder& focus);
// Behind that: whether a dialog or a menu covers the window. Its controls get no focus then, and the one that had it
// has it again when the cover is gone.
void cover_focus(FocusOrder& focus, bool covered);
// The stops that follow belong to this part of the window, a panel; Tab goes through the parts in the order of their
// numbers.
void begin_focus_part(FocusOrder& focus, int part);
// Of the control that has the focus; 0: none.
int focused_part(const FocusOrder& focus);
// To the first control of the next part, or of the one before (by = −1); past the last one back to the steps.
void move_to_part(FocusOrder& focus, int by);
// To the first map on the stage, whose first cell is looked at; nothing happens where there is none.
void focus_first_map(FocusOrder& focus);
// Of each control, right after its ImGui item: true where it has the focus. A press of the mouse takes it to a text;
// on any other control it only presses, and the arrows stay with the steps.
bool focus_stop(FocusOrder* focus, ImGuiID id, FocusKeys keys);
// The same of a rectangle that is no ImGui item, and is not scrolled to.
bool focus_area(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusKeys keys);
// Of a plane of rows × columns cells: its arrows go from cell to cell, beginning at `first`. The cell
// that they point at; none while the focus is elsewhere, or the mouse was moved after the keys.
using FocusCell = std::pair<int, int>;
std::optional<FocusCell> focus_map(FocusOrder* focus, ImGuiID id, ImVec2 min, ImVec2 max, FocusCell size,
                                   FocusCell first);
// Gives the focus to a control that is drawn in this frame or the two that follow; in a text field the cursor stands at
// this byte.
void take_focus(FocusOrder& focus, ImGuiID id, std::size_t cursor_at = 0);
// Back to the steps.
void release_focus(FocusOrder& focus);

// Whether a chord belongs to the focused control and is no command.
bool focus_keeps(const FocusOrder& focus, KeyChord chord);

// Pressed in this frame (or repeated by being held).
bool key_pressed(Key key, bool repeat = true);
// Enter or Space, pressed in this frame: what works a focused button.
bool press_key_pressed();

}  // namespace headwise
