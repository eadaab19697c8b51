// The spotlight: everything is dimmed but the cell that is looked at and what it was made from.
#pragma once

#include <vector>

#include "app/panels/panel.h"

namespace headwise {

// The parts of `area` that none of the rectangles covers, as rectangles that do not overlap.
std::vector<RectF> outside_of(const RectF& area, const std::vector<RectF>& rectangles);

// Draws over `area` of the current ImGui window. Without anything lit nothing is dimmed.
void draw_spotlight(const PanelContext& context, const RectF& area, const std::vector<RectF>& lit);

}  // namespace headwise
