// The operations on the way from one tensor to the other as a table: shape, strides, and where the cell that is looked at
// stands after each.
#pragma once

#include "app/panels/memory_scene.h"
#include "app/panels/panel.h"

namespace headwise {

float memory_table_height(const PanelContext& context);
// `at`: its upper left corner, in pixels.
void draw_memory_table(const PanelContext& context, const MemoryScene& scene, ImVec2 at, float width);

}  // namespace headwise
