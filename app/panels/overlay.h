// The frame of everything temporarily shown over the window: the key sheet, dialogs.
// What is behind it gets no mouse input.
#pragma once

#include "app/widgets/painter.h"

namespace headwise {

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
