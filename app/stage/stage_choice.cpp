#include "app/stage/stage_choice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

bool stage_choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
                  int& chosen, float room) {
  return narrow_segmented_control(context, id, labels, chosen, room, fmt::format("stage/{}", id));
}

Index shown_query(const PanelContext& context, Index chosen, Index queries) {
  const auto& pinned = context.selection.pinned;
  const bool has_query = pinned && !pinned->tensor.gradient && pinned->index.size() == 4 &&
                         pinned->tensor.id != TensorId::k_heads && pinned->tensor.id != TensorId::k_rotary &&
                         pinned->tensor.id != TensorId::k_normed && pinned->tensor.id != TensorId::v_heads &&
                         pinned->tensor.id != TensorId::indexer_k && step_of(pinned->tensor.id) != Step::past;
  return std::clamp<Index>(has_query ? pinned->index[2] : chosen, 0, std::max<Index>(queries - 1, 0));
}

void choose_query(const PanelContext& context, Index& chosen, Index query, Index queries, PanelAction& action) {
  chosen = std::clamp<Index>(query, 0, std::max<Index>(queries - 1, 0));
  if (!context.selection.pinned) return;
  if (!action.selection) action.selection = context.selection;
  action.selection->pinned.reset();
}

std::string query_name(const PanelContext& context, Index query) {
  return drawable_text(token_at(context.inputs.labels.query, query, "q"), context.fonts.bold);
}

ImVec2 draw_query_choice(const PanelContext& context, Index& chosen, Index query, Index queries,
                         PanelAction& action, ImVec2 at) {
  constexpr std::array<std::string_view, 2> ways{"‹", "›"};
  const Painter paint = context.painter();
  ImFont* sans = context.presentation ? context.fonts.caption : context.fonts.sans;
  ImFont* bold = context.presentation ? context.fonts.title : context.fonts.bold;
  const float height = segmented_control_size(context, ways).y;
  const float y = std::round(at.y + 0.5f * (height - sans->FontSize)), gap = 8 * context.scale;
  paint.text(sans, {at.x, y}, context.palette.text_dim, "query");
  float right = at.x + width_of(sans, "query") + gap;
  if (!context.picture) {
    ImGui::SetCursorScreenPos({right, at.y});
    int way = -1;
    if (segmented_control(context, "query", ways, way))
      choose_query(context, chosen, query + (way == 0 ? -1 : 1), queries, action);
    const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
    tooltip(context, "the previous or the next query");
    ui_probe("stage/query/back", min, {0.5f * (min.x + max.x), max.y});
    ui_probe("stage/query/forward", {0.5f * (min.x + max.x), min.y}, max);
    right = max.x + gap;
  }
  const std::string name = query_name(context, query);
  paint.text(bold, {right, std::round(y + 0.5f * (sans->FontSize - bold->FontSize))}, context.palette.q, name);
  ui_text_probe("query " + name, {right, y});
  return {right + width_of(bold, name) - at.x, height};
}

}  // namespace headwise
