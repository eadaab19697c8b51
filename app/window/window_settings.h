// Changes the settings as the commands request: at once, and in the settings file for the next start. If that cannot be
// written, a notice says why.
#pragma once

namespace headwise {

struct WindowView;  // app/window/window_view.h

// Multiplies its speed by `factor`, between the slowest and the fastest.
void scale_motion(WindowView& view, float factor);
void toggle_reduce_motion(WindowView& view);

// Cycles through dark, light, projector.
void toggle_theme(WindowView& view);
// The size of type: 1 is the display's default. Clamped between the smallest and the largest.
void scale_text(WindowView& view, float scale);

// Shows the first steps again, from the beginning.
void begin_first_steps(WindowView& view);
// Hides them, now and at the next start.
void finish_first_steps(WindowView& view);

}  // namespace headwise
