// The line over the stage: what the step is called and asks, and the ways to look at it.
#pragma once

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Title, question and controls at the cursor of the current ImGui window: the selection with what was chosen
// in this frame.
// `brush`: which brush paints the mask, in the step of the masks (0: none).
Selection draw_stage_header(const PanelContext& context, const StageContent& content, int& brush);

}  // namespace headwise
