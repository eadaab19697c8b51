// The cells of a heatmap inside an ImGui window.
#pragma once

#include <span>
#include <vector>

#include <imgui.h>

#include "app/render/heatmap_renderer.h"
#include "core/picture/heatmap.h"
#include "core/picture/picture.h"

namespace headwise {

// Planes of cells are drawn by a shader, bypassing ImGui. To get a frame as vectors,
// they are recorded instead.

struct PlaneRecording {
  std::vector<std::vector<PlaneItem>> batches;  // in the order in which they were drawn
};

// Records planes here from now on instead of drawing them; null: they are drawn.
// Whoever sets it must reset it.
void record_planes(PlaneRecording* recording);
PlaneRecording* plane_recording();

// Stands for recorded planes in a draw list; its user data is the number of the batch.
void recorded_planes(const ImDrawList*, const ImDrawCmd*);

struct HeatmapPlane {
  const HeatmapSpec* spec;  // not null; needed during the call only
  ImVec2 min, max;          // on the screen, in pixels
};

// Draws the planes between what was drawn before and what follows, clipped like everything in the list. The
// corners are rounded to whole pixels, so that all cells have the same number of pixels if their width
// divides the plane. Many planes in one call cost less than as many calls. Draws cells only:
// no labels, digits or colour bar.
void draw_heatmap_planes(ImDrawList* list, HeatmapRenderer& renderer, std::span<const HeatmapPlane> planes);
void draw_heatmap_plane(ImDrawList* list, HeatmapRenderer& renderer, const HeatmapSpec& spec, ImVec2 min,
                        ImVec2 max);

}  // namespace headwise
