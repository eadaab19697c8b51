// What ImGui has drawn in a frame, as SVG: text as text, shapes as paths, planes of cells as recorded.
#pragma once

#include <imgui.h>

#include <string>

#include "app/platform/fonts.h"
#include "app/widgets/plane_recording.h"

namespace headwise {

// The frame must have been drawn without ImGui's anti-aliasing, whose fringes would become separate shapes, and with
// `planes` recording. Textures other than the fonts' are left out.
std::string draw_data_svg(const ImDrawData& data, const Fonts& fonts, const PlaneRecording& planes,
                          Rgba8 ground);

}  // namespace headwise
