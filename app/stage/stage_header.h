// The line above the stage: the step's name and question, and the choice of views.
#pragma once

#include <string>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Draws title, question and controls at the cursor of the current ImGui window; returns the selection with
// what was chosen in this frame. `brush`: which brush paints the mask, in the mask step (0: none). `title`:
// of the page that this is a picture of; it stands in the place of the step's name, which follows it.
Selection draw_stage_header(const PanelContext& context, const StageContent& content, int& brush,
                            const std::string& title = {});

// In a hall, above a stage whose page has its title beside it: which head the stage shows.
// The steps come down to here.
void draw_presented_head(const PanelContext& context);

}  // namespace headwise
