// What the event loop calls for each frame, whatever fills the window.
#pragma once

#include <imgui.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"

namespace headwise {

// A rectangle of one opaque colour below everything ImGui draws, in whole pixels from the top left corner.
// With software rendering, clearing a rectangle costs a tenth of filling it with ImGui's shader.
struct GroundRect {
  int x = 0, y = 0, width = 0, height = 0;
  ImVec4 color;
};

struct FrameResult {
  bool animating = false;  // draw the next frame at once; otherwise sleep until something happens
  // If not animating: seconds until the next frame even if nothing happens (a tooltip or the next step is
  // due).
  double wake_after = std::numeric_limits<double>::infinity();
  // Seconds until the next frame even while the window is minimised, because something has to be written
  // then.
  double write_after = std::numeric_limits<double>::infinity();
  bool quit = false;
  std::string title;        // of the window; empty: unchanged
  float font_scale = 1.0f;  // the user's, on top of the display's; from the next frame on
  bool full_screen = false;
  ImVec4 ground = {0, 0, 0, 1};     // behind everything drawn
  std::vector<GroundRect> grounds;  // on top of it, in this order
  // Whether ImGui's callbacks draw the same as in the previous frame.
  bool callbacks_as_before = false;
};

// Called between ImGui::NewFrame and ImGui::Render, with the fonts and the pixels per design unit of this
// frame.
using FrameFunction = std::function<FrameResult(const FrameInput&, const Fonts&, float scale)>;

}  // namespace headwise
