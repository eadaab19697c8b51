#include "app/widgets/text_link.h"

#include <imgui.h>

#include <cmath>

#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

float text_link_width(const WidgetContext& context, std::string_view words) {
  return std::ceil(width_of(context.fonts.small, words));
}

bool text_link(const WidgetContext& context, const char* id, std::string_view words, std::string_view what) {
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size(text_link_width(context, words), font->FontSize + context.px(2));
  bool pressed = ImGui::InvisibleButton(id, size);
  const bool hovered = ImGui::IsItemHovered();
  const bool focused = focus_stop(context.focus, ImGui::GetID(id), FocusKeys::press);
  if (focused && press_key_pressed()) pressed = true;
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ui_probe_item(id);
  tooltip(context, what);
  const Palette& palette = context.palette;
  const Rgba8 ink = hovered || focused ? palette.text : palette.text_dim;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddText(font, font->FontSize, {std::round(at.x), std::round(at.y)}, im_color(ink), words.data(),
                words.data() + words.size());
  const float y = std::floor(at.y + font->FontSize + context.px(1)) + 0.5f;
  list->AddLine({at.x, y}, {at.x + size.x, y},
                im_color(hovered || focused ? palette.text : palette.text_faint), context.scale);
  return pressed;
}

}  // namespace headwise
