// How things are drawn: a painter writes, fills and outlines in the current ImGui window,
// all in pixels on the screen.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "app/widgets/measure.h"
#include "app/widgets/widget_context.h"

namespace headwise {

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
