// The frame of a panel: its rectangle in the window, with background, rounded corners and border. Its
// contents are clipped to it and scroll.
#pragma once

#include <imgui.h>

#include <vector>

#include "app/platform/frame_function.h"
#include "app/widgets/focus_order.h"
#include "core/picture/picture.h"

namespace headwise {

// Begins a panel at a rectangle of the window; all lengths in pixels. False if it has no room (then there is
// nothing to end), else the caller fills it and calls ImGui::EndChild(). `grounds` receives its background
// except the corners. `name` is for ImGui and for the probe.
bool begin_panel(const char* name, std::vector<GroundRect>& grounds, const RectF& rect, float padding_x,
                 float padding_y, ImGuiWindowFlags flags = 0);

// The same without background, border and padding.
bool begin_bare_panel(const char* name, const RectF& rect);

// Scrolls a panel's contents with Ctrl and the arrow keys, by `line` per press, while one of the controls in
// its `part` of the focus order has keyboard focus.
void scroll_by_keys(const FocusOrder& focus, int part, float line);

}  // namespace headwise
