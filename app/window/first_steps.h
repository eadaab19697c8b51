// What to do first, in one line at the top of the window: four things to try, each ticked once done. Once all
// are, the line disappears; Help, First steps brings it back.
#pragma once

#include "app/panels/panel.h"
#include "app/session/suggestions.h"

namespace headwise {

struct FirstSteps {
  bool stepped = false, pointed = false, pinned = false, typed = false;

  bool all() const { return stepped && pointed && pinned && typed; }
  // Records what the user did in a frame; `sentence`: typed in the text field.
  void observe(const Selection& before, const Selection& now, bool sentence);
};

// Width in pixels of the things to do, with where to ask.
float first_steps_width(const PanelContext& context);

// Fills the space from `left` to `right` in the middle of the line at `y`, in pixels; if it is too narrow,
// only the things to do are kept, and finally nothing is drawn.
void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y);

// What is suggested after that, in the same place.
struct ShownSuggestion {
  std::optional<Suggestion> suggestion;
  bool pressed = false, dismissed = false;  // in this frame
};
// One line with a button to dismiss it, from `left` to `right`, centred on `y`, in pixels;
// nothing if it is too narrow.
void draw_suggestion(const PanelContext& context, ShownSuggestion& shown, float left, float right, float y);

}  // namespace headwise
