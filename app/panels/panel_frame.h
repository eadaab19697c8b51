// The frame of a panel: its rectangle in the window, with background, rounded corners and border. Its
// contents are clipped to it and scroll.
#pragma once

#include <imgui.h>

#include <vector>

#include "app/platform/frame_function.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "core/export/picture.h"

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

// The frame of everything temporarily shown over the window: the key sheet, dialogs.
// What is behind it gets no mouse input.
struct OverlayOptions {
  float width = 420.0f;        // design units; narrower if the window is
  bool closes_outside = true;  // by a click outside it
  bool* inner = nullptr;       // something in it that Escape closes first, while it is open
};

// While `open`: centres the overlay, dims the window, writes the title, and returns true; the caller fills it
// and then calls end_overlay(). Escape clears `open`.
bool begin_overlay(const WidgetContext& context, const char* id, const char* title, bool& open,
                   const OverlayOptions& options = {});
void end_overlay();

// The arrows, the page keys, Home and End scroll the current ImGui window while no control has the focus. The
// overlay itself does already; a region inside it that scrolls calls this.
void scroll_by_keys(const WidgetContext& context);

}  // namespace headwise
