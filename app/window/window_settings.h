// The settings as the commands change them: at once, and in the file of the settings for the next start. Where that cannot be
// written a notice says why.
#pragma once

#include "app/window/window_state.h"

namespace headwise {

// `factor` times its speed, between the slowest and the fastest.
void scale_motion(WindowState& window, float factor);
void toggle_reduce_motion(WindowState& window);

// Dark, light, for a projector, dark again.
void toggle_theme(WindowState& window);
// The size of type: 1 is the display's own. Between the smallest and the largest.
void scale_text(WindowState& window, float scale);

// Says what to do first, from its beginning.
void begin_first_steps(WindowState& window);
// Says it no more, now and at the next start.
void finish_first_steps(WindowState& window);

}  // namespace headwise
