// What the window suggests to try next (app/session/suggestions.h).
#pragma once

namespace headwise {

struct WindowState;

// Before the menu bar is drawn: chooses the suggestion that fits. None while the first steps or a lesson are shown.
void find_suggestion(WindowState& window);
// After it: does what was pressed, and remembers what was tried or dismissed.
void take_suggestion(WindowState& window);

}  // namespace headwise
