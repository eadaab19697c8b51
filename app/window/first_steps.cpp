#include "app/window/first_steps.h"

#include <imgui.h>

#include <cmath>
#include <iterator>
#include <string>

#include "app/platform/fonts.h"
#include "app/widgets/controls.h"
#include "app/widgets/painter.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr const char* what_it_is = "See multi-head attention happen:";
constexpr const char* where_to_ask = "questions: Help";
constexpr const char* where_to_train = "watch heads learn: N";
constexpr const char* things[] = {"press Space to watch it happen", "point at a number", "click to pin it",
                                  "type your own sentence"};
constexpr float gap_units = 16.0f;

}  // namespace

void FirstSteps::observe(const Selection& before, const Selection& now, bool sentence) {
  stepped = stepped || before.step != now.step;
  pointed = pointed || now.hovered.has_value();
  pinned = pinned || (now.pinned && now.pinned != before.pinned);
  typed = typed || sentence;
}

namespace {

float things_width(const PanelContext& context) {
  ImFont* font = context.fonts.small;
  const float gap = gap_units * context.scale;
  float width = -gap;
  for (const char* thing : things) width += width_of(font, "✓ ") + width_of(font, thing) + gap;
  return width;
}

}  // namespace

float first_steps_width(const PanelContext& context) {
  return things_width(context) + gap_units * context.scale + width_of(context.fonts.small, where_to_ask);
}

void draw_first_steps(const PanelContext& context, const FirstSteps& done, float left, float right, float y) {
  const bool is_done[] = {done.stepped, done.pointed, done.pinned, done.typed};
  ImFont* font = context.fonts.small;
  const Painter paint = context.painter();
  const float gap = gap_units * context.scale, room = right - left;
  float wanted = things_width(context);
  if (wanted > room) return;
  const bool with_questions = first_steps_width(context) <= room;
  if (with_questions) wanted = first_steps_width(context);
  const float training = gap + width_of(font, where_to_train);
  const bool with_training = with_questions && wanted + training <= room;
  if (with_training) wanted += training;
  const float heading = width_of(font, what_it_is) + gap;
  const bool with_heading = heading + wanted <= room;
  float x = std::round(left + 0.5f * (room - wanted - (with_heading ? heading : 0.0f)));
  const float top = std::round(y - 0.5f * font->FontSize);
  const auto put = [&](const char* text, Rgba8 ink) { x = paint.text(font, {x, top}, ink, text).max.x; };
  ui_probe("first_steps", {x, top}, {x + wanted, top + font->FontSize});
  if (with_heading) {
    put(what_it_is, context.palette.text_dim);
    x += gap;
  }
  for (std::size_t i = 0; i < std::size(things); ++i) {
    const Rgba8 ink = is_done[i] ? context.palette.text_dim : context.palette.text;
    paint.text(font, {x, top}, ink, is_done[i] ? "✓" : "○");
    x += width_of(font, "✓ ");
    put(things[i], ink);
    x += gap;
  }
  if (with_questions) {
    ui_probe("first_steps/questions", {x, top}, {x + width_of(font, where_to_ask), top + font->FontSize});
    put(where_to_ask, context.palette.text_dim);
  }
  if (with_training) {
    x += gap;
    ui_probe("first_steps/training", {x, top}, {x + width_of(font, where_to_train), top + font->FontSize});
    put(where_to_train, context.palette.text_dim);
  }
}

void draw_suggestion(const PanelContext& context, ShownSuggestion& shown, float left, float right, float y) {
  if (!shown.suggestion) return;
  const WidgetContext widgets = context.widgets();
  const std::string text =
      "Try next: " + std::string(suggestion_entries()[static_cast<std::size_t>(*shown.suggestion)].text);
  constexpr const char* dismiss = "✕";
  const float height = widgets.px(26), padding = 2 * widgets.px(12), gap = widgets.px(2);
  const float wanted =
      width_of(context.fonts.small, text) + padding + gap + width_of(context.fonts.small, dismiss) + padding;
  if (wanted > right - left) return;
  const ImVec2 before = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({std::round(0.5f * (left + right - wanted)), std::round(y - 0.5f * height)});
  shown.pressed = text_button(widgets, "suggestion", text, ButtonLook::plain);
  ui_probe_item("suggestion");
  ImGui::SetCursorScreenPos({ImGui::GetItemRectMax().x + gap, ImGui::GetItemRectMin().y});
  shown.dismissed = text_button(widgets, "suggestion/dismiss", dismiss, ButtonLook::plain);
  ui_probe_item("suggestion/dismiss");
  tooltip(widgets, "do not suggest this again");
  ImGui::SetCursorScreenPos(before);
}

}  // namespace headwise
