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
  return {float(r.x), float(r.y)};
}
inline ImVec2 far_corner(const RectF& r) {
  return {float(r.x + r.width), float(r.y + r.height)};
}
inline ImVec2 corner(const PlaneGeometry& p) {
  return {float(p.x), float(p.y)};
}
inline ImVec2 far_corner(const PlaneGeometry& p) {
  return {float(p.x + p.width), float(p.y + p.height)};
}

// A rectangle on the screen.
struct Box {
  ImVec2 min, max;

  Box(ImVec2 near, ImVec2 far) : min(near), max(far) {}
  Box(const RectF& r) : min(corner(r)), max(far_corner(r)) {}
  Box(const PlaneGeometry& p) : min(corner(p)), max(far_corner(p)) {}

  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  ImVec2 middle() const { return {0.5f * (min.x + max.x), 0.5f * (min.y + max.y)}; }
  bool has(ImVec2 point) const {
    return point.x >= min.x && point.x < max.x && point.y >= min.y && point.y < max.y;
  }
  // By so many pixels on each side.
  Box grown(float by) const { return {{min.x - by, min.y - by}, {max.x + by, max.y + by}}; }
};

}  // namespace headwise
