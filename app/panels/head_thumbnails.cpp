#include "app/panels/head_thumbnails.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/session/head_gains.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/tooltip.h"

namespace headwise {
namespace {

ImVec2 corner(const RectF& r) {
  return {static_cast<float>(r.x), static_cast<float>(r.y)};
}
ImVec2 far_corner(const RectF& r) {
  return {static_cast<float>(r.x + r.width), static_cast<float>(r.y + r.height)};
}

bool mouse_in(const RectF& r) {
  return ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(corner(r), far_corner(r));
}

PanelAction edit(GainEdit gain) {
  PanelAction action;
  action.scenario = std::move(gain.scenario);
  action.edit_label = std::move(gain.label);
  return action;
}

WidgetContext widgets_of(const PanelContext& context) {
  return {context.palette, context.fonts, context.scale};
}

}  // namespace

std::vector<StagePart> thumbnail_parts(const PanelContext& context, const StageContent& content) {
  std::vector<StagePart> parts;
  if (!content.head_map) return parts;
  parts.reserve(static_cast<std::size_t>(content.head_total));
  for (Index head = 0; head < content.head_total; ++head) {
    parts.push_back(part_at_head(*content.head_map, context.trace, context.selection.batch, head));
  }
  return parts;
}

void add_thumbnail_planes(const HeadGrid& grid, const std::vector<StagePart>& parts,
                          std::vector<HeatmapPlane>& planes) {
  for (std::size_t head = 0; head < parts.size(); ++head) {
    const RectF rect = grid.thumbnail(static_cast<Index>(head));
    planes.push_back({&parts[head].spec, corner(rect), far_corner(rect)});
  }
}

Selection looking_at_head(const PanelContext& context, Index head) {
  Selection selection = context.selection;
  selection.head = head;
  if (!selection.pinned) return selection;
  const TensorPtr tensor = context.trace.tensor(selection.pinned->tensor);
  const auto moved = stage_matrix(context.trace, selection.pinned->tensor, {selection.batch, head});
  if (tensor && moved && tensor->shape().rank() == 4) {
    std::copy(moved->leading.begin(), moved->leading.end(), selection.pinned->index.begin());
  }
  return selection;
}

PanelAction draw_head_number(const PanelContext& context, const RectF& line, Index head,
                             const std::string& number) {
  const Palette& palette = context.palette;
  const bool chosen = head == context.selection.head;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const double gain = head_gain_of(context.scenario, head);

  const float radius =
      std::clamp(static_cast<float>(line.width) * 0.08f, 2.5f * context.scale, 4.5f * context.scale);
  const ImVec2 dot(far_corner(line).x - radius - 1.0f,
                   corner(line).y + static_cast<float>(line.height) * 0.55f);
  const double reach = std::max(9.0 * context.scale, 2.0 * radius);
  const RectF dot_area{dot.x - reach, line.y, reach + radius + 2.0, line.height};
  const bool on_dot = mouse_in(dot_area), on_line = mouse_in(line);

  ImFont* font = chosen ? context.fonts.bold : context.fonts.small;
  const float size = chosen ? context.fonts.small->FontSize : font->FontSize;
  const ImU32 color = im_color(chosen ? palette.text : palette.text_dim);
  list->AddText(font, size, ImVec2(corner(line).x, std::floor(dot.y - size / 2)), color, number.c_str());
  if (gain != 0.0) {
    list->AddCircleFilled(dot, radius,
                          im_color(on_dot ? palette.text : palette.text_dim,
                                   static_cast<float>(std::clamp(std::abs(gain), 0.35, 1.0))));
  } else {
    list->AddCircle(dot, radius - 0.5f, im_color(on_dot ? palette.text : palette.text_dim), 0, context.scale);
  }

  PanelAction action;
  if (on_dot && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    action = edit(toggle_mute(context.scenario, head));
  } else if (on_line && !on_dot && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    action.selection = looking_at_head(context, head);
  }
  if (on_dot)
    ImGui::SetTooltip("%s", gain == 0.0 ? "muted: click to hear it again" : "heard: click to mute it");
  return action;
}

PanelAction draw_head_thumbnails(const PanelContext& context, const HeadGrid& grid) {
  PanelAction action;
  const WidgetContext widgets = widgets_of(context);
  const Palette& palette = context.palette;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* small = context.fonts.small;
  const std::string caption = fitted_text("heads: click to look, dot to mute, double-click for one alone",
                                          small, static_cast<float>(grid.caption.width));
  list->AddText(small, small->FontSize, corner(grid.caption), im_color(palette.text_dim), caption.c_str());

  const Index heads = context.trace.options.num_heads;
  for (Index head = 0; head < heads; ++head) {
    const RectF rect = grid.thumbnail(head);
    if (head_gain_of(context.scenario, head) == 0.0) draw_muted(widgets, list, rect);
    const bool hovered = mouse_in(rect);
    if (head == context.selection.head || hovered) {
      const float out = std::round(2.0f * context.scale);
      const ImU32 color =
          head == context.selection.head ? im_color(palette.focus) : im_color(palette.text_dim);
      list->AddRect(ImVec2(corner(rect).x - out, corner(rect).y - out),
                    ImVec2(far_corner(rect).x + out, far_corner(rect).y + out), color, 2.0f * context.scale,
                    0, std::max(1.0f, std::round(1.5f * context.scale)));
    }
    if (hovered) {
      if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
        action = edit(toggle_solo(context.scenario, head));
      } else if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
        action.selection = looking_at_head(context, head);
      }
    }
    PanelAction number = draw_head_number(context, grid.number_line(head), head, fmt::format("{}", head));
    if (number.scenario || number.selection) action = std::move(number);
  }
  return action;
}

}  // namespace headwise
