// Which control the keyboard speaks to. ImGui's own keyboard navigation would take the arrows and Space from
// the steps, so Headwise has its own: Tab and Shift+Tab go through the controls in the order they are drawn,
// and past the last one back to the stage.
#pragma once

#include <imgui.h>

#include <string>
#include <vector>

#include "app/session/keys.h"
#include "app/widgets/text_edit.h"

namespace headwise {

// Which keys a control keeps for itself while it has the focus.
enum class FocusKeys {
  press,   // Enter and Space press it
  choose,  // these and the arrows, Home and End choose
  text,    // everything that types or moves in a text; Ctrl+letter only where it edits (A, C, V, X)
};

struct FocusOrder {
  ImGuiID focused = 0;                // 0: the stage
  FocusKeys keys = FocusKeys::press;  // of the focused control
  bool enabled = true;                // false while something behind a dialog is drawn: it gets no focus
  bool moved = false;                 // by Tab, in this frame: the control scrolls itself into view

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
  };
  std::vector<Stop> stops;  // drawn so far in this frame
};

// Before the first widget of a frame: Tab moves the focus, a mouse press outside every control gives it back
// to the stage, and a control that is gone loses it.
void begin_focus_frame(FocusOrder& focus);
// Of each control, right after its ImGui item: true where it has the focus. A press of the mouse takes it to a text;
// on any other control it only presses, and the arrows stay with the steps.
bool focus_stop(FocusOrder* focus, ImGuiID id, FocusKeys keys);
// Gives the focus to a control that is drawn in this frame or the next; in a text field the cursor stands at
// this byte.
void take_focus(FocusOrder& focus, ImGuiID id, std::size_t cursor_at = 0);
// Back to the stage.
void release_focus(FocusOrder& focus);

// Whether a chord belongs to the focused control and is no command.
bool focus_keeps(const FocusOrder& focus, KeyChord chord);

// Pressed in this frame (or repeated by being held).
bool key_pressed(Key key, bool repeat = true);

}  // namespace headwise
