#include "app/stage/stage_choice.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>

#include "app/widgets/controls.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

bool stage_choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
                  int& chosen, float room) {
  SegmentedOptions options;
  if (segmented_control_size(context, labels).x > room) options.width = std::max(room, 1.0f);
  const bool changed = segmented_control(context, id, labels, chosen, options);
  const ImVec2 min = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  // Segments are as wide as their labels need, plus an equal share of the surplus or deficit.
  const float over =
      (size.x - segmented_control_size(context, labels).x) / float(std::max<std::size_t>(labels.size(), 1));
  float left = min.x;
  for (std::size_t i = 0; i < labels.size() && ui_probes_wanted(); ++i) {
    const float needed = segmented_control_size(context, labels.first(i + 1)).x;
    const float right = min.x + needed + over * float(i + 1);
    ui_probe(fmt::format("stage/{}/{}", id, labels[i]), ImVec2(left, min.y), ImVec2(right, min.y + size.y));
    left = right;
  }
  return changed;
}

}  // namespace headwise
