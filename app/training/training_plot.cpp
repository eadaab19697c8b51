#include "app/training/training_plot.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/training_layout.h"
#include "app/training/training_text.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
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
  ui_probe("training/waiting", context.painter().say(font, at, context.palette.text, words, Align::middle));
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
  if (state.curve == TrainingCurve::loss) draw_guess(context, training, scale);
  draw_place(context, scale, state.target.value_or(training.step()));

  if (training.reached() == 0 && !training.busy()) draw_waiting(context, scale.inside);

  ImGui::SetCursorScreenPos(corner(scale.inside));
  ImGui::InvisibleButton("plot", {float(scale.inside.width), float(scale.inside.height)});
  ui_probe_item("training/plot");
  const auto step_at_mouse = static_cast<Index>(std::lround((ImGui::GetIO().MousePos.x - scale.inside.x) /
                                                            scale.inside.width * static_cast<double>(steps)));
  const Index reached = std::clamp<Index>(step_at_mouse, 0, training.reached());
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) {
    state.told = fmt::format("at the pointer, step {}", reached);
    for (const WatchedRun& run : training.runs())
      if (const TrainingLoss* loss = run.loss_at(reached))
        state.told += fmt::format("   {}: batch loss {:.4f}, batch accuracy {:.1f} %", label_of_run(run),
                                  loss->loss, 100.0f * loss->accuracy);
  }
  if (ImGui::IsItemActive()) state.target = reached;
}

}  // namespace headwise
