// Moves the user's place as the commands request: to a step, a head, the next view,
// along the steps in time, and back out.
#pragma once

#include "core/tensor/shape.h"

namespace headwise {

struct WindowState;
struct WindowView;  // app/window/window_state.h

// Goes to the nearest existing step, with its motion if it follows the present one.
void go_to_step(WindowView& view, int step);
// Only says so if there is no such head.
void go_to_head(WindowState& window, Index head);
void go_to_next_view(WindowState& window);

// Starts or pauses playback. From the end, and from a result that was opened directly, it starts with the
// first step; in Gradients, which are walked backwards, with the last. A paused motion continues.
void play(WindowView& view);

// Escape: one thing at a time, the nearest first. Cancels what is being saved or computed; then leaves the
// focus, full screen, playing, notices, an edit without a result, the pinned cell, a lesson,
// and the stage alone.
void unpin(WindowState& window);

}  // namespace headwise
