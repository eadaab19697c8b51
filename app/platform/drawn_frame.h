// Whether a frame of ImGui would put the same picture on the screen as the frame before: then it need not be drawn. On a
// processor that rasterises by itself a picture costs as much as a good part of the attention that it shows.
#pragma once

#include <imgui.h>

#include <span>
#include <vector>

#include "app/platform/frame_function.h"

namespace headwise {

class DrawnFrame {
 public:
  // Whether shapes, grounds and size are those that it was asked about the last time. What callbacks draw it cannot see:
  // where there are any, they draw the same only if `callbacks_as_before`.
  bool as_before(const ImDrawData& shapes, ImVec4 ground, std::span<const GroundRect> grounds,
                 bool callbacks_as_before);
  // The next frame is like none before.
  void forget() { before_.clear(); }

 private:
  std::vector<char> now_, before_;  // all that the picture follows from, one after the other
};

}  // namespace headwise
