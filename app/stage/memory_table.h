// The operations on the way from one tensor to the other as a table: shape, strides, and where the cell that is looked at
// stands after each.
#pragma once

#include "app/content/memory_scene.h"
#include "app/panels/panel.h"

namespace headwise {

// `short_form`: without the axes and the cell, where the stage is low.
float memory_table_height(const PanelContext& context, bool short_form = false);
// `at`: its upper left corner, in pixels.
void draw_memory_table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width,
                       bool short_form = false);

}  // namespace headwise
