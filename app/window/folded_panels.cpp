#include "app/window/folded_panels.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr float tab_padding = 12.0f, tab_gap = 6.0f;  // in units

constexpr struct {
  const char *name, *id, *holds;
} panels[] = {
    {"Settings", "tab/settings", "the text, the sizes, the heads and the masks"},
    {"Inspector", "tab/inspector", "what the step does, and where a number comes from"},
    {"Graph", "tab/graph", "all tensors and what they are computed from"},
    {"Pages", "tab/pages", "the pages of the playlist"},
};

}  // namespace

const char* side_panel_name(SidePanel panel) {
  return panels[static_cast<std::size_t>(panel)].name;
}

void draw_panel_tab(const WidgetContext& context, const RectF& strip, int place, SidePanel panel,
                    std::optional<SidePanel>& unfolded) {
  const auto& words = panels[static_cast<std::size_t>(panel)];
  ImFont* font = context.fonts.sans;
  const auto length = [&](const char* name) {
    return std::ceil(width_of(font, name)) + 2 * context.px(tab_padding);
  };
  // All tabs are as long as the longest name: they stand in even steps.
  float longest = 0.0f;
  for (const auto& each : panels) longest = std::max(longest, length(each.name));
  const bool lies = strip.width > strip.height;
  const float room = static_cast<float>(strip.height);
  const float high = lies ? room - context.px(2) : std::min(longest, 0.5f * room - context.px(tab_gap));
  if (high <= 0.0f) return;
  const ImVec2 min{static_cast<float>(strip.x),
                   static_cast<float>(strip.y) + static_cast<float>(place) * (high + context.px(tab_gap))};
  const ImVec2 size{static_cast<float>(strip.width), high}, max{min.x + size.x, min.y + size.y};
  ImGui::SetCursorScreenPos(min);
  const bool pressed = ImGui::InvisibleButton(words.id, size);
  const bool focused = focus_stop(context.focus, ImGui::GetID(words.id), FocusKeys::press);
  const bool hovered = ImGui::IsItemHovered(), open = unfolded == panel;
  ui_probe_item(words.id);
  tooltip(context, open ? fmt::format("hide {}", words.holds) : fmt::format("show {}", words.holds));
  if (pressed || (focused && press_key_pressed())) unfolded = open ? std::nullopt : std::optional(panel);

  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context.palette;
  list->AddRectFilled(min, max,
                      im_color(open      ? palette.control
                               : hovered ? palette.control_hover
                                         : palette.panel),
                      context.px(6));
  list->AddRect(min, max, im_color(palette.border), context.px(6));
  const ImU32 ink = im_color(open ? palette.focus : palette.text);
  const std::string name = fitted_text(words.name, font, lies ? size.x : high - context.px(4));
  const float shown = width_of(font, name);
  if (lies) {
    list->AddText(
        font, font->FontSize,
        {std::round(0.5f * (min.x + max.x - shown)), std::round(0.5f * (min.y + max.y - font->FontSize))},
        ink, name.c_str());
    return;
  }
  // Turned, the name is longer than the strip is wide.
  list->PushClipRectFullScreen();
  const float top = std::round(0.5f * (min.y + max.y - std::min(shown, high)));
  draw_turned_text(list, font, {std::round(0.5f * (min.x + max.x)), top}, 90.0f, ink, name);
  list->PopClipRect();
}

}  // namespace headwise
