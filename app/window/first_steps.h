// What to do first, in one line at the top of the window: four things to try, each ticked once it was done. When all are
// the line goes; Help, First steps brings it back.
#pragma once

#include "app/panels/panel.h"

namespace headwise {

struct FirstSteps {
  bool stepped = false, pointed = false, pinned = false, typed = false;

  bool all() const { return stepped && pointed && pinned && typed; }
  // Takes in what the person did in a frame; `sentence`: typed in the field of the text.
  void observe(const Selection& before, const Selection& now, bool sentence);
};

// How wide the things to do are, with where to ask; in pixels.
float first_steps_width(const PanelContext& context);

// Fills the room from `left` to `right` in the middle of the line at `y`, in pixels; a room that is too narrow keeps the
// things to do and lets the rest go, then says nothing.
void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y);

}  // namespace headwise
