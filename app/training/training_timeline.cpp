#include "app/training/training_timeline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/training/training_text.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr float button_height = 30.0f, thumb_radius = 8.0f, track_height = 6.0f, figures_width = 150.0f,
                mark_radius = 3.0f, mark_above = 12.0f;  // design units

std::string speed_text(const LiveTraining& training) {
  const double speed = training.tokens_per_second();
  return speed > 0.0 ? fmt::format("{:.0f},000 tokens/s", std::max(1.0, speed / 1000.0)) : std::string();
}

// Where a head got a name for the first time.
struct FirstNamed {
  Index step = 0, layer = 0, head = 0;
  Habit habit{};
};

// In the order of their steps.
std::vector<FirstNamed> first_named_heads(const WatchedRun& run) {
  std::vector<FirstNamed> marks;
  for (Index layer = 0; layer < run.settings.model.layers; ++layer)
    for (Index head = 0; head < run.settings.model.heads; ++head)
      for (const TrainingPointPtr& point : run.past)
        if (const auto habit = habit_at(run, *point, layer, head)) {
          marks.push_back({point->step, layer, head, *habit});
          break;
        }
  std::ranges::stable_sort(marks, {}, &FirstNamed::step);
  return marks;
}

// A dot above the line for each of them, in the colour of what it does; those that would lie over one another
// stand side by side.
void draw_first_named(const PanelContext& context, const WatchedRun& run, const auto& x_of, float y,
                      float right, std::string& told) {
  const Painter paint = context.painter();
  const float radius = paint.px(mark_radius), reach = radius + paint.px(1);
  float free_from = 0.0f;
  for (const FirstNamed& mark : first_named_heads(run)) {
    const float x = std::min(right, std::max(x_of(mark.step), free_from));
    free_from = x + 2 * radius + paint.px(1);
    paint.dot({x, y}, radius, color_of_habit(context.palette, mark.habit));
    const ImVec2 from{x - reach, y - reach}, to{x + reach, y + reach};
    const std::string name = trained_head_name(mark.layer, mark.head);
    ui_probe(fmt::format("training/named/{}", name), from, to);
    if (ImGui::IsMouseHoveringRect(from, to))
      told = fmt::format("step {}: head {} is named for the first time, {}", mark.step, name,
                         habit_name(mark.habit));
  }
}

bool is_free(const FocusOrder* focus, Key key) {
  return !focus || !focus_keeps(*focus, {key, false, false});
}

constexpr std::string_view back_words = "Back to the training", on_words = "Go on with the training";
constexpr Index most_ticks = 40;
constexpr float strip_text_down = 5.0f, strip_gap = 12.0f, least_track = 80.0f;  // design units

}  // namespace

TimelineMove draw_training_timeline(const PanelContext& context, const LiveTraining& training,
                                    TrainingViewState& state, const RectF& area, Index steps) {
  const Painter paint = context.painter();
  TimelineMove move = TimelineMove::none;
  const float height = paint.px(button_height), gap = paint.px(6);
  ImGui::SetCursorScreenPos(corner(area));
  const bool playing = training.playing();
  if (sign_button(paint, "back", ButtonSign::back, height)) move = TimelineMove::back;
  named_item(paint, "training/back", "One step back (←)");
  ImGui::SameLine(0, gap);
  if (sign_button(paint, "play", playing ? ButtonSign::pause : ButtonSign::play, height,
                  playing ? "Pause" : "Train"))
    move = TimelineMove::play_or_pause;
  named_item(paint, "training/play", "Train, or pause (Space)");
  ImGui::SameLine(0, gap);
  if (sign_button(paint, "step", ButtonSign::forward, height)) move = TimelineMove::step;
  named_item(paint, "training/step", "Take one step (→)");
  const float left = ImGui::GetItemRectMax().x + paint.px(20);
  const float right = float(area.x + area.width) - paint.px(figures_width);

  const float y = std::floor(float(area.y) + 0.5f * height);
  const auto x_of = [&](Index step) {
    return left + (right - left) * float(step) / float(std::max<Index>(1, steps));
  };
  ImGui::SetCursorScreenPos({left, y - paint.px(12)});
  ImGui::InvisibleButton("steps", {std::max(1.0f, right - left), paint.px(24)});
  ui_probe("training/steps", {left, y - paint.px(12)}, {right, y + paint.px(12)});
  tooltip(paint,
          "Drag to any step that was taken. Home and End go to the first and the last one. A dot above the "
          "line marks the step at which a head was named for the first time, in the colour of what it does.");
  if (ImGui::IsItemActive()) {
    const double at = (ImGui::GetIO().MousePos.x - left) / std::max(1.0f, right - left);
    state.target = std::clamp<Index>(static_cast<Index>(std::lround(at * static_cast<double>(steps))), 0,
                                     training.reached());
  }
  const Index step = state.target.value_or(training.step());
  const float half = 0.5f * paint.px(track_height);
  const auto track = [&](float from, float to, ImU32 color) {
    paint.fill({from, y - half}, {to, y + half}, color, half);
  };
  track(left, right, im_color(context.palette.border));
  track(left, x_of(training.reached()), im_color(context.palette.text_faint));
  track(left, x_of(step), im_color(color_of_run(context.palette, 0)));
  paint.dot({x_of(step), y}, paint.px(thumb_radius), context.palette.text);

  if (!training.runs().empty())
    draw_first_named(context, training.runs().front(), x_of, y - paint.px(mark_above), right, state.told);

  ImFont* font = context.fonts.mono_small;
  const std::string at = fmt::format("step {}", step);
  const float text_width = width_of(font, at);
  paint.say(font, {std::clamp(x_of(step) - 0.5f * text_width, left, right - text_width), y + paint.px(12)},
            context.palette.text, at);
  const auto end = float(area.x + area.width);
  paint.say(font, {end, y - paint.px(13)}, context.palette.text_dim,
            counted(training.reached(), "step") + " taken", Align::right);
  paint.say(font, {end, y + paint.px(2)}, context.palette.text_dim, speed_text(training), Align::right);
  return move;
}

TimelineMove timeline_keys(const PanelContext& context) {
  const auto pressed = [&](Key key, bool repeats) {
    return is_free(context.focus, key) && key_pressed(key, repeats);
  };
  if (pressed(Key::space, false)) return TimelineMove::play_or_pause;
  if (pressed(Key::right, true)) return TimelineMove::step;
  if (pressed(Key::left, true)) return TimelineMove::back;
  if (pressed(Key::home, false)) return TimelineMove::first;
  if (pressed(Key::end, false)) return TimelineMove::last;
  return TimelineMove::none;
}

CheckpointStripAction draw_checkpoint_strip(const WidgetContext& widgets, const CheckpointStrip& strip,
                                            const RectF& area) {
  CheckpointStripAction action;
  const Painter paint = widgets.painter();
  ImFont* font = widgets.fonts.small;
  const float y = float(area.y) + widgets.px(strip_text_down), gap = widgets.px(strip_gap);
  auto right = float(area.x + area.width);
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
  const std::string name =
      fitted_text("training: " + strip.name, font,
                  std::max(0.0f, right - float(area.x) - place_width - widgets.px(least_track) - 2 * gap));
  const float left = paint.say(font, {float(area.x), y}, widgets.palette.text_dim, name).max.x + gap;
  paint.say(font, {right - place_width + widgets.px(8), y}, widgets.palette.text, strip.place);
  right -= place_width + gap;
  ImGui::SetCursorScreenPos({left, float(area.y) + widgets.px(2)});
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
  named_item(widgets, "checkpoint/place",
             "Drag: every step of the training is a model, and the whole window shows it. Double-click: the "
             "last one.");
  if (moved.changed) action.place = std::clamp<Index>(std::lround(place), 0, strip.count - 1);
  action.held = moved.held;
  return action;
}

}  // namespace headwise
