// One choice of a few, all of them visible: "off | on", "packed | 3 | 3·H".
#pragma once

#include <span>
#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

struct SegmentedOptions {
  float width = 0.0f;  // pixels, where the labels can be put into them; 0: as wide as the labels need
  bool enabled = true;
};

// Width and height in pixels that the labels need.
ImVec2 segmented_control_size(const WidgetContext& context, std::span<const std::string_view> labels);

// The width in which they still stand apart.
float segmented_control_least_width(const WidgetContext& context, std::span<const std::string_view> labels);

// Draws it as one ImGui item. True where another one was chosen in this frame, by click or, with the focus,
// by arrows, Home, End or Space. `chosen` may be -1: none.
bool segmented_control(const WidgetContext& context, const char* id, std::span<const std::string_view> labels,
                       int& chosen, const SegmentedOptions& options = {});

}  // namespace headwise
