#include "app/widgets/text_link.h"

#include <imgui.h>

#include <cmath>

#include "app/widgets/button.h"
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
  const auto [box, pressed, hovered, focused] = press_item(context, id, size);
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  named_item(context, id, what);
  const Palette& palette = context.palette;
  const Rgba8 ink = hovered || focused ? palette.text : palette.text_dim;
  const Painter paint = context.painter();
  paint.text(font, {std::round(at.x), std::round(at.y)}, ink, words);
  const float y = std::floor(at.y + font->FontSize + context.px(1)) + 0.5f;
  paint.line({at.x, y}, {at.x + size.x, y}, hovered || focused ? palette.text : palette.text_faint,
             context.scale);
  return pressed;
}

}  // namespace headwise
