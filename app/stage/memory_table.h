// The operations that lead from one tensor to the other as a table: shape, strides, and the index of the focused cell after
// each.
#pragma once

#include "app/content/memory_scene.h"
#include "app/panels/panel.h"

namespace headwise {

// `short_form`: omits the axes and the cell, for a low stage.
float memory_table_height(const PanelContext& context, bool short_form = false);
// `at`: its upper left corner, in pixels.
void draw_memory_table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width,
                       bool short_form = false);

}  // namespace headwise
