#include "app/training/training_plot.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/content/training_layout.h"
#include "app/training/training_heads.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, 2> curve_names{"loss of batch", "accuracy of batch"},
    brief_curve_names{"loss", "accuracy"};
constexpr float title_height = 26.0f, left_of_plot = 40.0f, below_plot = 20.0f,
                right_of_plot = 12.0f;  // design units
constexpr float swatch = 14.0f, between_names = 14.0f;

std::vector<CurvePoint> curve_of(const WatchedRun& run, TrainingCurve curve) {
  std::vector<CurvePoint> points;
  points.reserve(run.losses.size());
  for (auto i = static_cast<std::size_t>(run.losses_from); i < run.losses.size(); ++i)
    points.push_back(
        {static_cast<double>(i + 1),  // as loss_at has it
         static_cast<double>(curve == TrainingCurve::loss ? run.losses[i].loss : run.losses[i].accuracy)});
  return points;
}

// What saying every token alike costs: ln V.
double cost_of_guessing(const LiveTraining& training) {
  return std::log(static_cast<double>(training.task().vocabulary));
}

double top_of_axis(const LiveTraining& training, TrainingCurve curve) {
  if (curve == TrainingCurve::accuracy) return 1.0;
  double most = cost_of_guessing(training);
  for (const WatchedRun& run : training.runs()) {
    // A single jump of the loss must not flatten the rest.
    std::vector<float> losses;
    for (Index i = run.losses_from; i < run.reached(); ++i) losses.push_back(run.loss_of(i)->loss);
    if (losses.empty()) continue;
    const auto high =
        losses.begin() + static_cast<std::ptrdiff_t>(0.98 * static_cast<double>(losses.size() - 1));
    std::ranges::nth_element(losses, high);
    most = std::max(most, static_cast<double>(*high));
  }
  return most;
}

struct PlotScale {
  RectF inside;
  double steps, top;

  ImVec2 at(double step, double value) const {
    return {float(inside.x + inside.width * std::min(step / steps, 1.0)),
            float(inside.y + inside.height * (1.0 - std::clamp(value / top, 0.0, 1.02)))};
  }
};

void draw_axes(const PanelContext& context, const TrainingViewState& state, const PlotScale& scale,
               const std::vector<double>& ticks) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.mono_small;
  const ImU32 line = im_color(context.palette.border), ink = im_color(context.palette.text_dim);
  const auto left = float(scale.inside.x), right = float(scale.inside.x + scale.inside.width);
  for (const double tick : ticks) {
    const float y = std::round(scale.at(0, tick).y);
    paint.line({left, y}, {right, y}, line);
    const std::string text = state.curve == TrainingCurve::accuracy ? fmt::format("{:.0f}%", 100.0 * tick)
                                                                    : fmt::format("{:.3g}", tick);
    paint.say(font, {left - paint.px(6), y - 0.5f * font->FontSize}, ink, text, Align::right);
  }
  const std::vector<double> steps = axis_ticks(scale.steps, 7);
  const auto bottom = float(scale.inside.y + scale.inside.height);
  float free_from = left;
  for (const double step : steps) {
    if (step > scale.steps) continue;
    const std::string text = step == 0.0 ? "step 0" : fmt::format("{:.0f}", step);
    const float x = scale.at(step, 0).x, half = 0.5f * width_of(font, text);
    const float from = std::clamp(x - half, free_from, right - 2 * half);
    paint.say(font, {from, bottom + paint.px(4)}, ink, text);
    free_from = from + 2 * half + paint.px(10);
  }
}

void draw_curves(const PanelContext& context, const LiveTraining& training, const TrainingViewState& state,
                 const PlotScale& scale) {
  const Painter paint = context.painter();
  for (std::size_t i = training.runs().size(); i-- > 0;) {
    const WatchedRun& run = training.runs()[i];
    const ImU32 color = im_color(color_of_run(context.palette, i));
    std::vector<ImVec2> line;
    for (const CurvePoint& point : thinned_curve(curve_of(run, state.curve), static_cast<Index>(scale.steps),
                                                 static_cast<int>(scale.inside.width)))
      line.push_back(scale.at(point.step, point.value));
    paint.list->AddPolyline(line.data(), static_cast<int>(line.size()), color, 0,
                            paint.px(1.8f) * context.palette.stroke);
  }
}

// What a guess costs, over the curves: their last steps lie where its words stand.
void draw_guess(const PanelContext& context, const LiveTraining& training, const PlotScale& scale) {
  const Painter paint = context.painter();
  const auto left = float(scale.inside.x), right = float(scale.inside.x + scale.inside.width);
  const ImU32 ink = im_color(context.palette.text_dim);
  const double guess = cost_of_guessing(training);
  const float y = std::round(scale.at(0, guess).y);
  for (float x = left; x < right; x += paint.px(8))
    paint.line({x, y}, {std::min(x + paint.px(4), right), y}, context.palette.text_faint);
  // Above its line, or below where there is no room; the lines of the grid end at it.
  const std::string words = fmt::format("uniform guess: ln {} = {:.3g}", training.task().vocabulary, guess);
  const float height = context.fonts.small->FontSize, above = y - height - paint.px(1);
  const float top = above >= float(scale.inside.y) ? above : y + paint.px(2);
  paint.fill({right - width_of(context.fonts.small, words) - paint.px(4), top}, {right, top + height},
             ImGui::GetColorU32(ImGuiCol_PopupBg, 0.8f));
  paint.say(context.fonts.small, {right, top}, ink, words, Align::right);
}

// Where it stands: a line through the curve, with its step.
void draw_place(const PanelContext& context, const PlotScale& scale, Index step) {
  const float x = std::round(scale.at(static_cast<double>(step), 0).x);
  const auto top = float(scale.inside.y), bottom = float(scale.inside.y + scale.inside.height);
  context.painter().line({x, top}, {x, bottom}, context.palette.text, std::max(1.0f, context.px(1.2f)));
}

float width_of_runs(const PanelContext& context, const LiveTraining& training) {
  float width = 0.0f;
  for (const WatchedRun& run : training.runs())
    width += width_of(context.fonts.small, label_of_run(run)) + context.px(swatch + between_names);
  return width;
}

// "■ 8 heads of 8   ■ one wide head", from the right; as much as there is room for.
void draw_runs(const PanelContext& context, const LiveTraining& training, float right, float y, float room) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float most = room / float(training.runs().size()) - paint.px(swatch + between_names);
  float x = right;
  for (std::size_t i = training.runs().size(); i-- > 0;) {
    const std::string whole = label_of_run(training.runs()[i]);
    const std::string label = room < width_of_runs(context, training) ? fitted_text(whole, font, most) : whole;
    x = paint.say(font, {x, y}, context.palette.text, label, Align::right).min.x - paint.px(swatch);
    const float middle = std::round(y + 0.55f * font->FontSize);
    paint.line({x, middle}, {x + paint.px(10), middle}, color_of_run(context.palette, i), paint.px(3));
    x -= paint.px(between_names);
  }
}

// Before the first step: what it waits for.
void draw_waiting(const PanelContext& context, const RectF& inside) {
  ImFont* font = context.fonts.sans;
  const std::string words = fitted_clauses(
      "Space, or Train, begins: the curve grows here; the heads change below", font, float(inside.width));
  const ImVec2 at{float(inside.x + 0.5 * inside.width),
                  float(inside.y + 0.5 * inside.height) - 0.5f * font->FontSize};
  const Painter paint = context.painter();
  // A line of the grid may run where the words stand.
  const float half = 0.5f * width_of(font, words) + paint.px(6);
  paint.fill({at.x - half, at.y}, {at.x + half, at.y + font->FontSize}, im_color(context.palette.panel));
  ui_probe("training/waiting", paint.say(font, at, context.palette.text, words, Align::middle));
}

}  // namespace

Rgba8 color_of_run(const Palette& palette, std::size_t run) {
  return run == 0 ? palette.focus : palette.k;
}

std::string label_of_run(const WatchedRun& run) {
  if (run.change) return std::string(training_change_entry(*run.change).label);
  const TrainModelConfig& model = run.settings.model;
  return fmt::format("{} of width {}", counted(model.heads, "head"), head_width_of(model));
}

void draw_training_plot(const PanelContext& context, const LiveTraining& training, TrainingViewState& state,
                        const RectF& area, Index steps) {
  ImGui::SetCursorScreenPos(corner(area));
  int curve = static_cast<int>(state.curve);
  const auto right = float(area.x + area.width) - context.px(right_of_plot);
  const float beside = right - float(area.x) - context.px(16) - width_of_runs(context, training);
  const bool fits = segmented_control_size(context, curve_names).x <= beside;
  if (segmented_control(context, "curve", fits ? curve_names : brief_curve_names, curve))
    state.curve = static_cast<TrainingCurve>(curve);
  named_item(
      context, "training/curve",
      "Loss: the mean cross-entropy of a step's batch, over the positions where the answer is "
      "determined. Accuracy: the share of those positions where the likeliest token is the right one.");
  const float below_choice = ImGui::GetItemRectMax().x + context.px(16);
  draw_runs(context, training, right, float(area.y) + context.px(5), right - below_choice);

  const double top = top_of_axis(training, state.curve);
  const std::vector<double> ticks = axis_ticks(top, 6);
  PlotScale scale;
  scale.inside = {area.x + context.px(left_of_plot), area.y + context.px(title_height + 8),
                  area.width - context.px(left_of_plot + right_of_plot),
                  area.height - context.px(title_height + 8 + below_plot)};
  scale.steps = static_cast<double>(steps);
  scale.top = std::max(top, ticks.back());
  draw_axes(context, state, scale, ticks);
  draw_curves(context, training, state, scale);
  draw_place(context, scale, state.target.value_or(training.step()));
  if (state.curve == TrainingCurve::loss) draw_guess(context, training, scale);

  if (training.reached() == 0 && !training.busy()) draw_waiting(context, scale.inside);

  ImGui::SetCursorScreenPos(corner(scale.inside));
  ImGui::InvisibleButton("plot", {float(scale.inside.width), float(scale.inside.height)});
  ui_probe_item("training/plot");
  const auto step_at_mouse = static_cast<Index>(std::lround((ImGui::GetIO().MousePos.x - scale.inside.x) /
                                                            scale.inside.width * static_cast<double>(steps)));
  const Index reached = std::clamp<Index>(step_at_mouse, 0, training.reached());
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    state.readout = fmt::format("at the pointer, step {}", reached);
    for (const WatchedRun& run : training.runs())
      if (const TrainingLoss* loss = run.loss_at(reached))
        state.readout += fmt::format("   {}: batch loss {:.4f}, batch accuracy {:.1f} %", label_of_run(run),
                                     loss->loss, 100.0f * loss->accuracy);
  }
  if (ImGui::IsItemActive()) state.target = reached;
}

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
                      float right, std::string& readout) {
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
      readout = fmt::format("step {}: head {} is named for the first time, {}", mark.step, name,
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
    draw_first_named(context, training.runs().front(), x_of, y - paint.px(mark_above), right, state.readout);

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
  const bool in_view = strip.watched || strip.resumed;
  if (in_view || strip.resumable) {
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
