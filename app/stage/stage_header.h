// The line above the stage: the step's name and question, and the choice of views.
#pragma once

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Draws title, question and controls at the cursor of the current ImGui window; returns the selection with what was chosen
// in this frame. `brush`: which brush paints the mask, in the mask step (0: none).
Selection draw_stage_header(const PanelContext& context, const StageContent& content, int& brush);

}  // namespace headwise
