// Detects whether an ImGui frame would give the same picture as the previous one, so that it need not be drawn. With
// software rasterisation a picture costs a good part of what the attention it shows costs.
#pragma once

#include <imgui.h>

#include <span>
#include <vector>

#include "app/platform/frame_function.h"

namespace headwise {

class DrawnFrame {
 public:
  // Whether shapes, grounds and size are the same as in the last call. It cannot see what callbacks draw: if there are any,
  // they draw the same only if `callbacks_as_before`.
  bool as_before(const ImDrawData& shapes, ImVec4 ground, std::span<const GroundRect> grounds,
                 bool callbacks_as_before);
  // Makes the next frame count as changed.
  void forget() { before_.clear(); }

 private:
  std::vector<char> now_, before_;  // everything that determines the picture, concatenated
};

}  // namespace headwise
