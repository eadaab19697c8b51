// Runs the window: events in, frames out, asleep in between. Knows nothing of what is in the frames.
#pragma once

#include "app/platform/frame_function.h"
#include "app/platform/imgui_lifetime.h"
#include "app/platform/window.h"

namespace headwise {

// Until the frame function quits. Nothing is drawn while nothing happens, nor while the window is minimised.
// Throws Error(no_display) where the graphics driver was reset and has lost the context (HEADWISE_LOSE_CONTEXT_AFTER names a
// frame that it pretends this after).
// font_scale: of the first frame, before a result names one.
void run_event_loop(Window& window, ImGuiLifetime& imgui, const FrameFunction& frame, float font_scale = 1.0f);

}  // namespace headwise
