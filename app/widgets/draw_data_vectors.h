// What ImGui has drawn in a frame, as vectors: text as text, shapes as paths, planes of cells as recorded.
#pragma once

#include <imgui.h>

#include "app/platform/fonts.h"
#include "app/widgets/heatmap_view.h"
#include "core/export/vector_canvas.h"

namespace headwise {

// The frame must have been drawn without ImGui's anti-aliasing, whose fringes would become separate shapes,
// and with `planes` recording, on a canvas of its size and with this ground. Textures other than the fonts'
// are left out.
void draw_data_vectors(VectorCanvas& canvas, const ImDrawData& data, const Fonts& fonts,
                       const PlaneRecording& planes, Rgba8 ground);

}  // namespace headwise
