// What the event loop asks for each frame, whatever fills the window.
#pragma once

#include <imgui.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "app/platform/fonts.h"
#include "app/platform/input_queue.h"

namespace headwise {

// A rectangle of one opaque colour under all that ImGui draws, in whole pixels from the top left corner. The clear of a
// rectangle costs a processor that draws by itself a tenth of the same rectangle filled by ImGui's shader.
struct GroundRect {
  int x = 0, y = 0, width = 0, height = 0;
  ImVec4 color;
};

struct FrameResult {
  bool animating = false;  // draw the next frame at once; otherwise sleep until something happens
  // Not animating: seconds until the next frame although nothing happens (a tooltip or the next step is due).
  double wake_after = std::numeric_limits<double>::infinity();
  bool quit = false;
  std::string title;        // of the window; empty: as it is
  float font_scale = 1.0f;  // the person's, on top of the display's; from the next frame on
  bool full_screen = false;
  ImVec4 ground = {0, 0, 0, 1};     // behind all that is drawn
  std::vector<GroundRect> grounds;  // on it, in this order
  // What ImGui's callbacks draw where its shapes say so is what they drew in the frame before.
  bool callbacks_as_before = false;
};

// Called between ImGui::NewFrame and ImGui::Render, with the fonts and the pixels per design unit of this
// frame.
using FrameFunction = std::function<FrameResult(const FrameInput&, const Fonts&, float scale)>;

}  // namespace headwise
