// The settings as the commands change them: at once, and in the file of the settings for the next start. Where that cannot be
// written a notice says why.
#pragma once

namespace headwise {

struct WindowView;  // app/window/window_view.h

// `factor` times its speed, between the slowest and the fastest.
void scale_motion(WindowView& view, float factor);
void toggle_reduce_motion(WindowView& view);

// Dark, light, for a projector, dark again.
void toggle_theme(WindowView& view);
// The size of type: 1 is the display's own. Between the smallest and the largest.
void scale_text(WindowView& view, float scale);

// Says what to do first, from its beginning.
void begin_first_steps(WindowView& view);
// Says it no more, now and at the next start.
void finish_first_steps(WindowView& view);

}  // namespace headwise
