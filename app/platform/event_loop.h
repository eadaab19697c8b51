// Runs the window: events in, frames out, asleep in between. Knows nothing about the frames' contents.
#pragma once

#include "app/platform/frame_function.h"
#include "app/platform/imgui_lifetime.h"
#include "app/platform/window.h"

namespace headwise {

// Runs until the frame function quits. Nothing is drawn while nothing happens or the window is minimised.
// Throws Error(no_display) if the graphics driver was reset and the context is lost
// (HEADWISE_LOSE_CONTEXT_AFTER simulates this after the given frame). font_scale: for the first frame,
// before a result specifies one.
void run_event_loop(Window& window, ImGuiLifetime& imgui, const FrameFunction& frame, float font_scale = 1.0f);

}  // namespace headwise
