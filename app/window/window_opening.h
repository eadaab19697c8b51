// The opening scene as part of the window: when it is shown, what its controls do,
// and how it becomes the stage.
#pragma once

#include <imgui.h>

#include <optional>

#include "app/panels/opening_scene.h"
#include "app/panels/panel.h"
#include "app/session/commands.h"
#include "app/session/suggestions.h"
#include "app/widgets/painter.h"

namespace headwise {

struct OneHeadState;
struct WindowState;

// Whether the scene covers the whole window. While it unfolds, the panels are drawn under it.
bool opening_covers(const OpeningState& opening);

// Shows the scene, opening its sentence unless the scenario already has it;
// says so if there is no head to show.
void show_opening(WindowState& window);
// Lets the stage appear, at the row that the scene shows. From then on the window starts there.
void unfold(WindowState& window);

// A key pressed while the scene covers the window: it unfolds. True if that is all that the key does; else it
// also does what it does on the stage.
bool unfold_by_key(WindowState& window, KeyChord chord);
// The same for keys that no command has.
void unfold_by_other_keys(WindowState& window);

// Draws the scene into the current ImGui window, and does what is asked for.
void draw_opening_scene(WindowState& window, const WidgetContext& context, ImVec2 size);
// Draws it over the panels while it unfolds.
void draw_opening_over(const WindowState& window, const WidgetContext& context, ImVec2 size,
                       const OneHeadState& stage);

// What to do first, in one line at the top of the window: four things to try, each ticked once done. Once all
// are, the line disappears; Help, First steps brings it back.
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
