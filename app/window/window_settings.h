// Changes the settings as the commands request: at once, and in the settings file for the next start. If that
// cannot be written, a notice says why.
#pragma once

namespace headwise {

enum class Suggestion : int;  // app/session/suggestions.h
struct WindowView;            // app/window/window_state.h

// Multiplies its speed by `factor`, between the slowest and the fastest.
void scale_motion(WindowView& view, float factor);
// Sets it; does nothing if it is that already.
void set_motion_speed(WindowView& view, float speed);
void toggle_reduce_motion(WindowView& view);
// Unfolds or folds the strip of pages.
void toggle_filmstrip(WindowView& view, bool of_lesson);

// Cycles through dark, light, projector.
void toggle_theme(WindowView& view);
// The size of type: 1 is the display's default. Clamped between the smallest and the largest.
void scale_text(WindowView& view, float scale);

// The opening scene was seen: the window no longer starts with it.
void remember_opening_seen(WindowView& view);

// A suggestion was tried or dismissed: it is not made again.
void remember_suggestion(WindowView& view, Suggestion suggestion);

// Shows the first steps again, from the beginning.
void begin_first_steps(WindowView& view);
// Hides them, now and at the next start.
void finish_first_steps(WindowView& view);

}  // namespace headwise
