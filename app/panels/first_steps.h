// What to do first, in one line at the top of the window: four things to try, each ticked once it was done. When all are
// the line goes; Help, First steps brings it back.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct FirstSteps {
  bool stepped = false, pointed = false, pinned = false, edited = false;

  bool all() const { return stepped && pointed && pinned && edited; }
  // Takes in what the person did in a frame.
  void observe(const Selection& before, const Selection& now, bool edit);
};

// Fills the room from `left` to `right` in the middle of the line at `y`, in pixels; a room that is too narrow keeps the
// things to do and lets the rest go, then says nothing.
void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y);

}  // namespace headwise
