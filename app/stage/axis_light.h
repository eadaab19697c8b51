// Highlights the axis whose letter is pointed at on every matrix that has it: a bracket with its size.
#pragma once

#include <imgui.h>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// In an axis that joins heads, "H·D", H is marked with a tick at every head, D over the block of the chosen
// head. An axis that is not drawn (N or H in one head's map)
// frames the matrix and says which index of how many it shows.
void draw_axis_light(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane);

}  // namespace headwise
