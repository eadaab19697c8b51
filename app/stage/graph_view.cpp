#include "app/stage/graph_view.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "app/content/cell_meaning.h"
#include "app/content/graph_layout.h"
#include "app/content/stage_content.h"
#include "app/panels/named_text.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// From the right side of one node to the left side of the next: level, down or up in the gap before it,
// level.
void draw_edge(const PanelContext& context, const GraphNode& from, const GraphNode& to, bool below,
               float bottom, float shift) {
  const Painter paint = context.painter();
  const float u = context.scale;
  const ImU32 color = im_color(context.palette.text_faint);
  const ImVec2 begin(float(from.rect.x + from.rect.width) + shift,
                     std::floor(float(from.rect.y + from.rect.height / 2)) + 0.5f);
  const ImVec2 end(float(to.rect.x) + shift, std::floor(float(to.rect.y + to.rect.height / 2)) + 0.5f);
  if (below) {
    const float left = float(from.rect.x) + shift;
    const ImVec2 up(end.x + float(to.rect.width) / 2, float(to.rect.y + to.rect.height));
    const ImVec2 path[] = {ImVec2(left, begin.y), ImVec2(left - 6 * u, begin.y), ImVec2(left - 6 * u, bottom),
                           ImVec2(up.x, bottom), up};
    paint.list->AddPolyline(path, 5, color, ImDrawFlags_None, u);
    return;
  }
  const float turn = std::min(11.0f * u, (end.x - begin.x));
  const ImVec2 path[] = {begin, ImVec2(end.x - turn, begin.y), end};
  paint.list->AddPolyline(path, 3, color, ImDrawFlags_None, u);
}

// How much of the node's tensor the reach of the cell covers; empty if there is no reach, or none of it.
std::string reach_of_node(const PanelContext& context, TensorId id) {
  if (!context.reach) return "";
  const bool gradient = context.reach->cell.tensor.gradient;
  const TensorName name = first_name(context.trace, {id});
  if (first_name(context.trace, context.reach->cell.tensor) == name) return "1 cell";
  for (const std::vector<BoxRef>* boxes : {&context.reach->back, &context.reach->forward}) {
    std::string words = reach_words(context.trace, *boxes, name, true);
    if (words.empty() && gradient) words = reach_words(context.trace, *boxes, {id, true}, true);
    if (!words.empty()) return words;
  }
  return "";
}

bool is_pointed_at(const PanelContext& context, TensorId id) {
  const TensorName name = first_name(context.trace, {id});
  if (!context.pointed) return false;
  for (const Axis& axis : context.trace.tensor(id)->shape().axes()) {
    if (!context.pointed->axis.empty() && axis_has_letter(axis.name, context.pointed->axis)) return true;
  }
  return std::ranges::any_of(context.pointed->boxes, [&](const BoxRef& box) {
    return first_name(context.trace, {box.tensor.id}) == name;
  });
}

// The node as a control: its mouse and keyboard handling. Nodes scrolled out of sight come into view when
// they get keyboard focus.
PressItem use_node(const PanelContext& context, TensorId id, const std::string& reach, const Box& rect,
                   ImVec2 sides, GraphState& state) {
  ImGui::SetCursorScreenPos(rect.min);
  PressItem use = press_item(context, "node", {rect.width(), rect.height()});
  use.hovered = use.hovered || use.focused;
  if (use.focused && context.focus->moved) {
    const float left = sides.x - rect.min.x, right = rect.max.x - sides.y;
    state.scroll += left > 0.0f ? -left : std::max(0.0f, right);
  }
  tooltip(context, std::string(tensor_entry(id).what) + "  " + context.trace.tensor(id)->shape().to_string() +
                       (reach.empty() ? "" : "\non this number's path: " + reach));
  if (use.hovered) point_at_tensor(context, {id});
  return use;
}

// When a number is traced, `reach`, how much of the tensor is on its way, replaces the sizes;
// the rest is dimmed.
void draw_node(const PanelContext& context, const GraphNode& node, const std::string& reach, const Box& rect,
               bool present, bool hovered) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const float rounding = 3.0f * context.scale;
  paint.fill(rect, present ? palette.control : palette.field, rounding);
  paint.outline(rect,
                present                           ? palette.focus
                : is_pointed_at(context, node.id) ? palette.text
                : hovered                         ? palette.text_faint
                                                  : palette.border,
                std::max(1.0f, std::round((present ? 1.5f : 1.0f) * context.scale)), rounding);
  const Rgba8 hue = tensor_hue(palette, node.id);
  if (!reach.empty()) paint.fill({rect.min.x, rect.max.y - 2.0f * context.scale}, rect.max, hue, rounding);
}

// The name, and the sizes below or after it.
void draw_node_text(const PanelContext& context, const GraphNode& node, const std::string& reach,
                    const Box& rect, const GraphLayout& layout) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  const float ink = context.reach && reach.empty() ? 0.4f : 1.0f;
  const ImU32 name_color = im_color(tensor_hue(context.palette, node.id), ink);
  const ImU32 sizes_color = im_color(reach.empty() ? context.palette.text_dim : context.palette.focus, ink);
  const bool two_lines = layout.two_lines && !node.sizes.empty();
  const float middle = (rect.min.y + rect.max.y) / 2;
  const ImVec2 at(rect.min.x + float(layout.padding),
                  std::floor(two_lines ? middle - font->FontSize - 1.0f : middle - font->FontSize / 2));
  paint.text(font, at, name_color, node.name);
  const float beside = two_lines ? 0.0f : width_of(font, node.name) + 5.0f * context.scale;
  const std::string sizes = fitted_text(reach.empty() ? node.sizes : reach, mono, rect.max.x - at.x - beside);
  paint.text(mono, {at.x + beside, two_lines ? middle + 1.0f : middle - mono->FontSize / 2}, sizes_color,
             sizes);
}

}  // namespace

PanelAction draw_graph(const PanelContext& context, GraphState& state) {
  work_probe("graph");
  PanelAction action;
  const ImVec2 origin = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  const GraphLayout layout =
      graph_layout(context.trace, {origin.x, origin.y, size.x, size.y}, context.scale,
                   [&](std::string_view text, bool sizes) {
                     return width_of(sizes ? context.fonts.mono_small : context.fonts.small, text);
                   });

  const float overflow = std::max(0.0f, float(layout.width) - size.x);
  if (ImGui::IsWindowHovered() && overflow > 0.0f)
    state.scroll -= ImGui::GetIO().MouseWheel * 60.0f * context.scale;
  state.scroll = std::clamp(state.scroll, 0.0f, overflow);
  const float shift = -state.scroll;

  const float bottom = std::floor(origin.y + size.y) - 1.5f;
  for (const GraphEdge& edge : layout.edges)
    draw_edge(context, layout.nodes[edge.from], layout.nodes[edge.to], edge.below, bottom, shift);
  const std::optional<StepPicture> shown = shown_picture(context.trace, context.selection);
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const GraphNode& node = layout.nodes[i];
    const ImVec2 min(float(node.rect.x) + shift, float(node.rect.y));
    const Box rect{min, {min.x + float(node.rect.width), min.y + float(node.rect.height)}};
    const std::string reach = reach_of_node(context, node.id);
    ImGui::PushID(static_cast<int>(i));
    const PressItem use = use_node(context, node.id, reach, rect, {origin.x, origin.x + size.x}, state);
    ImGui::PopID();
    ui_probe("graph/" + std::string(tensor_entry(node.id).name), rect);
    const bool present =
        shown && first_name(context.trace, {shown->result}) == first_name(context.trace, {node.id});
    draw_node(context, node, reach, rect, present, use.hovered);
    draw_node_text(context, node, reach, rect, layout);
    if (use.pressed) {
      action.selection = context.selection;
      action.selection->step = step_of(node.id);
      action.selection->tensor = node.id;
    }
  }
  return action;
}

}  // namespace headwise
