// Measures text and rectangles in pixels, as ImGui expects them.
#pragma once

#include <imgui.h>

#include <cfloat>
#include <string_view>

#include "core/picture/cell_geometry.h"

namespace headwise {

// Returns the width of the text in one line; `size` 0 is the font's own size.
inline float width_of(const ImFont* font, std::string_view text, float size = 0.0f) {
  const float shown = size > 0.0f ? size : font->FontSize;
  return font->CalcTextSizeA(shown, FLT_MAX, 0.0f, text.data(), text.data() + text.size()).x;
}

// Return the top left and the bottom right corner.
inline ImVec2 corner(const RectF& r) {
  return {static_cast<float>(r.x), static_cast<float>(r.y)};
}
inline ImVec2 far_corner(const RectF& r) {
  return {static_cast<float>(r.x + r.width), static_cast<float>(r.y + r.height)};
}
inline ImVec2 corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y)};
}
inline ImVec2 far_corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x + p.width), static_cast<float>(p.y + p.height)};
}

}  // namespace headwise
