// A choice among a few options, all visible: "off | on", "packed | 3 | 3·H".
#pragma once

#include <span>
#include <string_view>

#include "app/widgets/widget_context.h"

namespace headwise {

struct SegmentedOptions {
  float width = 0.0f;  // pixels, if the labels can fit; 0: as wide as the labels need
  bool enabled = true;
};

// Width and height in pixels that the labels need.
ImVec2 segmented_control_size(const WidgetContext& context, std::span<const std::string_view> labels);

// The smallest width that still keeps them apart.
float segmented_control_least_width(const WidgetContext& context, std::span<const std::string_view> labels);

// Draws it as one ImGui item. True if another option was chosen in this frame, by a click or, with the focus,
// by arrow keys, Home, End or Space. `chosen` may be -1: none.
bool segmented_control(const WidgetContext& context, const char* id, std::span<const std::string_view> labels,
                       int& chosen, const SegmentedOptions& options = {});

}  // namespace headwise
