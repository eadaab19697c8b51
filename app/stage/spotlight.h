// The spotlight: everything is dimmed except the focused cell and what it was computed from.
#pragma once

#include <vector>

#include "app/panels/panel.h"

namespace headwise {

// The parts of `area` covered by none of the rectangles, as rectangles that do not overlap.
std::vector<RectF> outside_of(const RectF& area, const std::vector<RectF>& rectangles);

// Draws over `area` of the current ImGui window. With nothing lit, nothing is dimmed.
void draw_spotlight(const PanelContext& context, const RectF& area, const std::vector<RectF>& lit);

}  // namespace headwise
