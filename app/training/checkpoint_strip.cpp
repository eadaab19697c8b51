#include "app/training/checkpoint_strip.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/training/written.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/slider.h"
#include "app/widgets/text_link.h"
#include "app/widgets/tooltip.h"

namespace headwise {
namespace {

constexpr std::string_view back_words = "Back to the training", on_words = "Go on with the training";
constexpr Index most_ticks = 40;
constexpr float strip_text_down = 5.0f, strip_gap = 12.0f, least_track = 80.0f;  // design units

}  // namespace

CheckpointStripAction draw_checkpoint_strip(const WidgetContext& widgets, const CheckpointStrip& strip,
                                            const RectF& area) {
  CheckpointStripAction action;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = widgets.fonts.small;
  const float y = static_cast<float>(area.y) + widgets.px(strip_text_down), gap = widgets.px(strip_gap);
  auto right = static_cast<float>(area.x + area.width);
  const bool in_view = strip.watched || strip.goes_on;
  if (in_view || strip.can_go_on) {
    const std::string_view words = in_view ? back_words : on_words;
    const float width = text_link_width(widgets, words);
    ImGui::SetCursorScreenPos({right - width, y});
    action.to_training =
        in_view
            ? text_link(widgets, "checkpoint/back", words,
                        "Opens the training view again, where the training stands.")
            : text_link(widgets, "checkpoint/on", words,
                        "Opens the training view: the training goes on there from its newest checkpoint.");
    right -= width + gap;
  }
  if (strip.page > 0) {
    const std::string words = fmt::format("Back to page {}", strip.page);
    const float width = text_link_width(widgets, words);
    ImGui::SetCursorScreenPos({right - width, y});
    action.to_page = text_link(widgets, "checkpoint/page", words,
                               "Back to the page of the playlist that you came from (Esc).");
    right -= width + gap;
  }
  // The widest place that there can be, so that the line does not move while it is dragged.
  const float place_width = width_of(font, strip.place) + widgets.px(16);
  const std::string name = fitted_text(
      "training: " + strip.name, font,
      std::max(0.0f, right - static_cast<float>(area.x) - place_width - widgets.px(least_track) - 2 * gap));
  write_text(list, font, {static_cast<float>(area.x), y}, im_color(widgets.palette.text_dim), name);
  const float left = static_cast<float>(area.x) + width_of(font, name) + gap;
  write_text(list, font, {right - place_width + widgets.px(8), y}, im_color(widgets.palette.text), strip.place);
  right -= place_width + gap;
  ImGui::SetCursorScreenPos({left, static_cast<float>(area.y) + widgets.px(2)});
  auto place = static_cast<double>(strip.shown);
  const auto last = static_cast<double>(strip.count - 1);
  const SliderResult moved = slider(widgets, "place", place,
                                    {.least = 0.0,
                                     .most = std::max(1.0, last),
                                     .step = 1.0,
                                     .stops = strip.count <= most_ticks ? static_cast<int>(strip.count) : 0,
                                     .normal = last,
                                     .width = std::max(widgets.px(least_track), right - left),
                                     .enabled = strip.count > 1});
  ui_probe_item("checkpoint/place");
  tooltip(widgets,
          "Drag: every step of the training is a model, and the whole window shows it. Double-click: the "
          "last one.");
  if (moved.changed) action.place = std::clamp<Index>(std::lround(place), 0, strip.count - 1);
  action.held = moved.held;
  return action;
}

}  // namespace headwise
