// The frame of a panel: its rectangle of the window with ground, round corners and border. What is drawn in it is clipped to
// it, and scrolls.
#pragma once

#include <imgui.h>

#include <vector>

#include "app/platform/frame_function.h"
#include "app/widgets/focus_order.h"
#include "core/picture/picture.h"

namespace headwise {

// Begins a panel at a rectangle of the window, in pixels as all lengths here; false where it has no room (then nothing is to
// be ended), else the caller fills it and calls ImGui::EndChild(). `grounds` gets what of its ground is no corner. `name` is
// for ImGui and for the probe.
bool begin_panel(const char* name, std::vector<GroundRect>& grounds, const RectF& rect, float padding_x,
                 float padding_y, ImGuiWindowFlags flags = 0);

// The same without ground, border and padding.
bool begin_bare_panel(const char* name, const RectF& rect);

// In a panel: what does not fit into it scrolls by Ctrl and the arrows, `line` at a press, while one of the controls of its
// `part` of the focus has the keyboard.
void scroll_by_keys(const FocusOrder& focus, int part, float line);

}  // namespace headwise
