// What every widget is drawn with. A painter writes, fills and outlines in the current ImGui window, all in
// pixels on the screen.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <string_view>

#include <imgui.h>

#include "app/platform/fonts.h"
#include "app/widgets/palette.h"
#include "app/widgets/text_layout.h"
#include "core/export/plane_rule.h"

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

struct FocusOrder;
struct Painter;

struct WidgetContext {
  const Palette& palette;
  const Fonts& fonts;
  float scale = 1.0f;           // pixels per design unit
  FocusOrder* focus = nullptr;  // null: no keyboard focus here
  // Seconds until another frame is needed without any event (a tooltip that is due): widgets lower it.
  double* wake_after = nullptr;
  Type labels = {};  // the largest of rows and columns, for a hall; without a font: as usual

  float px(float design) const { return design * scale; }
  // Thickness of a line of so many units: whole pixels, at least one.
  float hairline(float units = 1.0f) const { return std::max(1.0f, std::round(px(units))); }
  Painter painter() const;  // of the current ImGui window
};

// Below a word that the model hardly knows, from `from` to the right, as far as `until`; `scale`: pixels per
// design unit.
inline void draw_dotted_line(ImDrawList* list, ImVec2 from, float until, ImU32 color, float scale) {
  const float dot = std::max(1.0f, std::round(1.5f * scale));
  for (float x = from.x; x + dot <= until + 0.5f; x += 2 * dot)
    list->AddRectFilled({x, from.y}, {x + dot, from.y + dot}, color);
}

// A colour with its opacity.
struct Ink {
  ImU32 value;
  Ink(ImU32 color) : value(color) {}
  Ink(Rgba8 color, float opacity = 1.0f) : value(im_color(color, opacity)) {}
};

// Which end of a text, or its middle, stands at the place that is given.
enum class Align { left, middle, right };

// What draws into a list, with everything that widgets are drawn with.
struct Painter : WidgetContext {
  ImDrawList* list;

  explicit Painter(const WidgetContext& context, ImDrawList* into = ImGui::GetWindowDrawList())
      : WidgetContext(context), list(into) {}

  // A line of text whose top is at `at`; returns the box that it takes.
  Box text(const Type& type, ImVec2 at, const Ink& ink, std::string_view words, Align align = Align::left) const;
  // The same, with its middle at the height of `at`.
  Box text_beside(const Type& type, ImVec2 at, const Ink& ink, std::string_view words,
                  Align align = Align::left) const {
    return text(type, {at.x, at.y - 0.5f * type.size}, ink, words, align);
  }
  // The same, told to tests, which read what the user reads.
  Box say(const Type& type, ImVec2 at, const Ink& ink, std::string_view words, Align align = Align::left) const;
  // Shortened with “…” where it is wider than `room`.
  Box text_within(float room, const Type& type, ImVec2 at, const Ink& ink, const std::string& words) const;
  // In lines of at most `wrap` pixels.
  Box wrapped(float wrap, const Type& type, ImVec2 at, const Ink& ink, std::string_view words) const;

  void fill(const Box& box, const Ink& ink, float rounding = 0.0f) const {
    list->AddRectFilled(box.min, box.max, ink.value, rounding);
  }
  void fill(ImVec2 min, ImVec2 max, const Ink& ink, float rounding = 0.0f) const {
    list->AddRectFilled(min, max, ink.value, rounding);
  }
  void outline(const Box& box, const Ink& ink, float thick = 1.0f, float rounding = 0.0f) const {
    list->AddRect(box.min, box.max, ink.value, rounding, 0, thick);
  }
  void outline(ImVec2 min, ImVec2 max, const Ink& ink, float thick = 1.0f, float rounding = 0.0f) const {
    list->AddRect(min, max, ink.value, rounding, 0, thick);
  }
  void line(ImVec2 from, ImVec2 to, const Ink& ink, float thick = 1.0f) const {
    list->AddLine(from, to, ink.value, thick);
  }
  void dot(ImVec2 middle, float radius, const Ink& ink) const {
    list->AddCircleFilled(middle, radius, ink.value);
  }
  void ring(ImVec2 middle, float radius, const Ink& ink, float thick = 1.0f) const {
    list->AddCircle(middle, radius, ink.value, 0, thick);
  }
};

inline Painter WidgetContext::painter() const {
  return Painter(*this);
}

}  // namespace headwise
