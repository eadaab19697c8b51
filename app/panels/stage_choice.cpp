#include "app/panels/stage_choice.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>

#include "app/widgets/segmented_control.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

bool stage_choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
                  int& chosen, float room) {
  SegmentedOptions options;
  if (segmented_control_size(context.widgets(), labels).x > room) options.width = std::max(room, 1.0f);
  const bool changed = segmented_control(context.widgets(), id, labels, chosen, options);
  const ImVec2 min = ImGui::GetItemRectMin(), size = ImGui::GetItemRectSize();
  const float part = size.x / static_cast<float>(labels.size());
  for (std::size_t i = 0; i < labels.size() && ui_probes_wanted(); ++i) {
    const float x = min.x + part * static_cast<float>(i);
    ui_probe(fmt::format("stage/{}/{}", id, labels[i]), ImVec2(x, min.y), ImVec2(x + part, min.y + size.y));
  }
  return changed;
}

}  // namespace headwise
