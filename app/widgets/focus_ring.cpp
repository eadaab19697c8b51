#include "app/widgets/focus_ring.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/focus_order.h"

namespace headwise {

void draw_focus_ring(const WidgetContext& context) {
  const FocusOrder* focus = context.focus;
  if (!focus || focus->focused == 0 || !focus->ring) return;
  const float thick = std::max(2.0f, std::round(2.0f * context.scale * context.palette.stroke));
  const float out = std::round(0.5f * thick) + 1.0f;
  const ImVec2 window = ImGui::GetIO().DisplaySize;
  // A control at the window's edge has its ring inside the window.
  const float inset = 0.5f * thick;
  const ImVec2 min{std::max(std::floor(focus->ring_min.x) - out, inset),
                   std::max(std::floor(focus->ring_min.y) - out, inset)};
  const ImVec2 max{std::min(std::ceil(focus->ring_max.x) + out, window.x - inset),
                   std::min(std::ceil(focus->ring_max.y) + out, window.y - inset)};
  ImGui::GetForegroundDrawList()->AddRect(min, max, im_color(context.palette.focus), context.px(4), 0, thick);
}

}  // namespace headwise
