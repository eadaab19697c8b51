// Where the person looks, as the commands move it: to a step, a head, the next view, along the steps in time, and back out.
#pragma once

#include "core/tensor/shape.h"

namespace headwise {

struct WindowState;
struct WindowView;  // app/window/window_view.h

// The nearest step there is, with its motion where it follows the present one.
void go_to_step(WindowView& view, int step);
// Nothing where there is no such head.
void go_to_head(WindowState& window, Index head);
void go_to_next_view(WindowState& window);

// Begins to play, or holds. From the end, and from a result that was opened on, it begins with the first step; in Gradients,
// which are walked backwards, with the last. A motion that is held goes on.
void play(WindowView& view);

// Escape: one thing at a time, the nearest first. What is being made or computed is given up; the focus, notices, an edit
// without a result, a lesson, what is pinned, and the stage alone are left.
void let_go(WindowState& window);

}  // namespace headwise
