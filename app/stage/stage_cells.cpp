#include "app/stage/stage_cells.h"

#include <fmt/format.h>
#include <imgui.h>

#include "app/widgets/focus_order.h"

namespace headwise {
namespace {

// Controls next to the maps may have the same names.
ImGuiID map_id(std::string_view name) {
  return ImGui::GetID(fmt::format("cells/{}", name).c_str());
}

}  // namespace

std::optional<std::pair<Index, Index>> plane_cell_looked_at(const PanelContext& context,
                                                            std::string_view name, const PlaneGeometry& plane,
                                                            std::pair<Index, Index> first) {
  const auto whole = [](Index index) { return static_cast<int>(index); };
  const ImGuiID id = map_id(name);
  const auto reached =
      focus_map(context.focus, id, corner(plane), far_corner(plane), {whole(plane.rows), whole(plane.cols)},
                {whole(first.first), whole(first.second)});
  if (reached) return std::pair<Index, Index>(reached->first, reached->second);
  if (keys_decide(context) || !ImGui::IsWindowHovered()) return std::nullopt;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return plane.cell_at(mouse.x, mouse.y);
}

std::optional<CellRef> cell_looked_at(const PanelContext& context, std::string_view name,
                                      const StagePart& part, const PlaneGeometry& plane) {
  std::pair<Index, Index> first{0, 0};
  if (const auto& pinned = context.selection.pinned) {
    if (const auto box = drawn_box(part.matrix, box_of(*pinned))) first = {box->row_begin, box->col_begin};
  }
  const auto cell = plane_cell_looked_at(context, name, plane, first);
  if (!cell) return std::nullopt;
  return cell_at(part.matrix, cell->first, cell->second);
}

std::optional<Index> line_reached(const PanelContext& context, std::string_view name, const RectF& lines,
                                  Index count) {
  const ImVec2 min(float(lines.x), float(lines.y));
  const ImVec2 max(min.x + float(lines.width), min.y + float(lines.height));
  const ImGuiID id = map_id(name);
  const auto reached = focus_map(context.focus, id, min, max, {static_cast<int>(count), 1}, {0, 0});
  if (!reached) return std::nullopt;
  return Index{reached->first};
}

bool keys_decide(const PanelContext& context) {
  return context.mouse_rests || (context.focus && context.focus->by_keys);
}

bool cell_pressed(const PanelContext& context) {
  return ImGui::IsMouseClicked(ImGuiMouseButton_Left) || (context.focus && context.focus->cell_pressed);
}

bool cell_held(const PanelContext& context) {
  return ImGui::IsMouseDown(ImGuiMouseButton_Left) || (context.focus && context.focus->cell_held);
}

}  // namespace headwise
