// The axis whose letter is pointed at, along every matrix that has it: a bracket with its size.
#pragma once

#include <imgui.h>

#include "app/content/stage_content.h"
#include "app/panels/panel.h"

namespace headwise {

// Of an axis that joins heads, "H·D": H is lit with a tick at every head, D over the block of the chosen head. An axis
// that is not drawn, N or H of one head's map, frames the matrix and says which of how many it is.
void draw_axis_light(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane);

}  // namespace headwise
