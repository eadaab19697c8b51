// All the way of a number, on the thumbnails of the heads.
#pragma once

#include <vector>

#include "app/content/stage_content.h"
#include "app/content/stage_layout.h"
#include "app/panels/panel.h"

namespace headwise {

// Over the thumbnails: what of each head's map the number that is looked at depends on, and what it feeds; nothing where only
// the next tensors are lit. `parts` as thumbnail_parts() gives them.
void draw_thumbnail_marks(const PanelContext& context, const HeadGrid& grid,
                          const std::vector<StagePart>& parts);

}  // namespace headwise
