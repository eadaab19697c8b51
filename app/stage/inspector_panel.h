// The inspector: what this step computes, where the number under the mouse (or the pinned one) came from and
// where it goes, and the lines of code that do the same.
#pragma once

#include "app/panels/panel.h"
#include "app/stage/inspector_sections.h"

namespace headwise {

struct InspectorState {
  CodeSectionState code;
  TermsState terms;
  MapStatisticsState map;
  Step step = Step::inputs;  // of the last frame: a new step starts scrolled to its top
};

// Fills the current ImGui window.
PanelAction draw_inspector(const PanelContext& context, InspectorState& state);

}  // namespace headwise
