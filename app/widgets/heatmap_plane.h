// The cells of a heatmap inside an ImGui window.
#pragma once

#include <imgui.h>

#include <span>

#include "app/render/heatmap_renderer.h"
#include "core/picture/heatmap.h"

namespace headwise {

struct HeatmapPlane {
  const HeatmapSpec* spec;  // not null; needed during the call only
  ImVec2 min, max;          // on the screen, in pixels
};

// Draws the planes between what was drawn before and what follows, clipped like everything in the list. The corners are
// rounded to whole pixels, so that all cells have the same number of pixels if their width divides the plane. Many planes
// in one call cost less than as many calls. Draws cells only: no labels, digits or colour bar.
void draw_heatmap_planes(ImDrawList* list, HeatmapRenderer& renderer, std::span<const HeatmapPlane> planes);
void draw_heatmap_plane(ImDrawList* list, HeatmapRenderer& renderer, const HeatmapSpec& spec, ImVec2 min,
                        ImVec2 max);

}  // namespace headwise
