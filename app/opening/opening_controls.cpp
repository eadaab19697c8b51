// What can be done in the opening scene, and its way to the stage.
#include <algorithm>
#include <cmath>

#include "app/content/motion.h"
#include "app/opening/opening_picture.h"
#include "app/opening/opening_scene.h"
#include "app/widgets/button.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/measure.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr const char* how = "How?  ⏎";
constexpr const char* own_sentence = "Type your own sentence";
constexpr const char* skip = "Skip intro →";

float large_button_width(const WidgetContext& context, const char* label) {
  return std::ceil(width_of(context.fonts.sans, label) + 2 * context.px(22));
}

// `main`: the one to press. Returns whether it was.
bool large_button(const WidgetContext& context, const char* id, const char* label, ImVec2 at, bool main) {
  ImFont* font = context.fonts.sans;
  const Palette& palette = context.palette;
  const ImVec2 size{large_button_width(context, label), std::round(context.px(40))};
  ImGui::SetCursorScreenPos(at);
  bool pressed = ImGui::InvisibleButton(id, size);
  ui_probe_item(id);
  const bool hovered = ImGui::IsItemHovered();
  if (focus_stop(context.focus, ImGui::GetID(id), FocusKeys::press) && press_key_pressed()) pressed = true;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  const float round = 0.5f * size.y;
  const Rgba8 ground =
      main ? (hovered ? palette.text_dim : palette.text) : (hovered ? palette.control : palette.window);
  list->AddRectFilled(at, end, im_color(ground), round);
  if (!main)
    list->AddRect(at, end, im_color(palette.text_dim), round, 0, std::max(1.0f, std::floor(context.scale)));
  list->AddText(font, font->FontSize,
                {std::round(0.5f * (at.x + end.x - width_of(font, label))),
                 std::round(0.5f * (at.y + end.y - font->FontSize))},
                im_color(main ? palette.window : palette.text), label);
  return pressed;
}

bool swap_button(const WidgetContext& context, const OpeningPicture& picture) {
  const RectF area = picture.swap_area();
  ImGui::SetCursorScreenPos(corner(area));
  bool pressed = ImGui::InvisibleButton("opening/swap",
                                        {static_cast<float>(area.width), static_cast<float>(area.height)});
  ui_probe_item("opening/swap");
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  tooltip(context,
          "swap in the other word: the sentence then means something else, and the head looks elsewhere");
  if (focus_stop(context.focus, ImGui::GetID("opening/swap"), FocusKeys::press) && press_key_pressed())
    pressed = true;
  return pressed;
}

}  // namespace

OpeningAction draw_opening(const WidgetContext& context, const OpeningState& state, ImVec2 size) {
  OpeningAction action;
  if (!state.row) return action;
  const OpeningPicture picture(context, state, size);
  ImDrawList* list = ImGui::GetWindowDrawList();
  picture.draw_name(list, 1.0f);
  picture.draw_arcs(list, 1.0f);
  picture.draw_words(list, 1.0f);
  picture.draw_weights(list, 1.0f);
  picture.draw_text(list, 1.0f);
  for (std::size_t i = 0; i < picture.layout().words.size(); ++i)
    ui_probe("opening/word", static_cast<int>(i), corner(picture.layout().words[i]),
             far_corner(picture.layout().words[i]));
  ui_probe("opening/strongest/" + state.row->words[state.row->strongest].text,
           corner(picture.layout().words[state.row->strongest]),
           far_corner(picture.layout().words[state.row->strongest]));

  action.swap = swap_button(context, picture);
  const float gap = context.px(14);
  const float wide = large_button_width(context, how) + gap + large_button_width(context, own_sentence);
  ImVec2 at{std::round(picture.buttons().x - 0.5f * wide), std::round(picture.buttons().y)};
  const bool fits = wide <= size.x;
  if (!fits) at.x = std::round(picture.buttons().x - 0.5f * large_button_width(context, how));
  if (large_button(context, "opening/how", how, at, true)) action.unfold = true;
  at.x += large_button_width(context, how) + gap;
  if (fits && large_button(context, "opening/own", own_sentence, at, false)) action.own_sentence = true;
  const float skip_width = std::ceil(width_of(context.fonts.small, skip) + 2 * context.px(12));
  ImGui::SetCursorScreenPos({size.x - skip_width - context.px(16), std::round(context.px(16))});
  if (text_button(context, "opening/skip", skip, ButtonLook::plain)) action.unfold = true;
  ui_probe_item("opening/skip");
  return action;
}

void draw_unfolding(const WidgetContext& context, const OpeningState& state, ImVec2 size,
                    const std::optional<OpeningTarget>& target) {
  if (!state.row) return;
  const OpeningPicture picture(context, state, size);
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const double done = state.unfolded;
  const auto left = static_cast<float>(1.0 - eased(done));
  list->AddRectFilled({0, 0}, size, im_color(context.palette.window, left));
  const auto soon = static_cast<float>(1.0 - phase(done, 0.0, 0.35));
  picture.draw_name(list, soon);
  picture.draw_text(list, soon);
  picture.draw_weights(list, soon);
  picture.draw_arcs(list, target ? static_cast<float>(1.0 - phase(done, 0.0, 0.5)) : left);
  if (target)
    picture.draw_flight(list, *target, done);
  else
    picture.draw_words(list, left);
  ui_probe("opening/unfolding", {0, 0}, size);
}

}  // namespace headwise
