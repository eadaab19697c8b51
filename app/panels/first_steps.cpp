#include "app/panels/first_steps.h"

#include <imgui.h>

#include <cmath>
#include <string>

#include "app/platform/fonts.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr const char* what_it_is = "See multi-head attention happen:";

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

}  // namespace

void FirstSteps::observe(const Selection& before, const Selection& now, bool edit) {
  stepped = stepped || before.step != now.step;
  pointed = pointed || now.hovered.has_value();
  pinned = pinned || now.pinned.has_value();
  edited = edited || edit;
}

void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y) {
  const struct {
    bool done;
    std::string text;
  } items[] = {{done.stepped, "press → to go on"},
               {done.pointed, "point at a number"},
               {done.pinned, "click to pin it"},
               {done.edited, "type your own sentence"}};
  ImFont* font = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float mark = width_of(font, "✓ "), gap = 16.0f * context.scale;
  float wanted = -gap;
  for (const auto& item : items) wanted += mark + width_of(font, item.text) + gap;
  if (wanted > right - left) return;
  const float heading = width_of(font, what_it_is) + gap;
  const bool with_heading = heading + wanted <= right - left;
  float x = std::round(left + 0.5f * (right - left - wanted - (with_heading ? heading : 0.0f)));
  const float top = std::round(y - 0.5f * font->FontSize);
  ui_probe("first_steps", {x, top}, {x + wanted, top + font->FontSize});
  if (with_heading) {
    list->AddText(font, font->FontSize, {x, top}, im_color(context.palette.text_dim), what_it_is);
    x += heading;
  }
  for (const auto& item : items) {
    const ImU32 ink = im_color(item.done ? context.palette.text_dim : context.palette.text);
    list->AddText(font, font->FontSize, {x, top}, ink, item.done ? "✓" : "○");
    x += mark;
    list->AddText(font, font->FontSize, {x, top}, ink, item.text.c_str());
    x += width_of(font, item.text) + gap;
  }
}

}  // namespace headwise
