#include "app/training/training_heads.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/content/training_layout.h"
#include "app/session/training_animation.h"
#include "app/training/training_habits.h"
#include "app/training/training_plot.h"
#include "app/training/wrapped_lines.h"
#include "app/training/written.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/tooltip.h"

namespace headwise {
namespace {

constexpr float heads_title = 20.0f, choice_room = 170.0f;  // design units

std::string token_text(const LiveTraining& training, Index position) {
  const auto token = static_cast<std::size_t>(training.tokens()[static_cast<std::size_t>(position)]);
  const std::string& text = training.task().token_texts[token];
  return text == " " ? "␣" : text == "\n" ? "↵" : text;
}

std::string example_text(const LiveTraining& training) {
  std::string text;
  for (Index i = 0; i < std::ssize(training.tokens()); ++i) text += (i ? " " : "") + token_text(training, i);
  return text;
}

HeatmapSpec spec_of(const TensorPtr& maps, Index head, const TensorPtr& bias, Theme theme) {
  HeatmapSpec spec;
  const Index leading[] = {0, head};
  spec.values = matrix_view(maps, leading);
  if (bias) spec.mask = matrix_view(bias);
  spec.color_map = ColorMap::viridis;
  spec.range = {0.0, 1.0};
  spec.theme = theme;
  return spec;
}

std::string cell_words(const LiveTraining& training, const HeatmapSpec& spec, Index row, Index column) {
  if (cell_kind(spec, row, column) == CellKind::blocked)
    return fmt::format("“{}” ({}) does not see “{}” ({}): the causal mask hides what comes later",
                       token_text(training, row), row, token_text(training, column), column);
  std::string words = fmt::format("“{}” ({}) looks at “{}” ({}): {:.4f}", token_text(training, row), row,
                                  token_text(training, column), column, spec.values.value(row, column));
  const std::int32_t target = training.targets()[static_cast<std::size_t>(row)];
  if (target >= 0)
    words += fmt::format("; right answer: “{}”", training.task().token_texts[static_cast<std::size_t>(target)]);
  return words;
}

struct MapPlace {
  Index layer, head;
  PlaneGeometry plane;
  HeatmapSpec spec;
};

void draw_name(const PanelContext& context, const WatchedRun& run, const MapPlace& place, float name_height) {
  const WidgetContext widgets = context.widgets();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = context.fonts.small;
  const TrainingPointPtr now = run.measured_now();
  const auto has = now ? habit_at(run, *now, place.layer, place.head) : std::nullopt;
  const ImVec2 at{corner(place.plane).x, corner(place.plane).y - name_height + widgets.px(1)};
  const auto width = static_cast<float>(place.plane.width);
  const std::string number = trained_head_name(place.layer, place.head);
  write_text(list, font, at, im_color(has ? context.palette.text : context.palette.text_dim), number);
  if (!has) return;
  const Habit habit = has.value_or(Habit::previous_token);
  const float left =
      draw_habit_dot(context, {at.x + width_of(font, number) + widgets.px(5), at.y}, habit) - at.x;
  for (const std::string_view word : {habit_name(habit), habit_short_name(habit)}) {
    if (width_of(font, word) > width - left) continue;
    write_text(list, font, {at.x + left, at.y}, im_color(context.palette.text), std::string(word));
    break;
  }
}

std::optional<TrainedHead> draw_run(const PanelContext& context, const LiveTraining& training,
                                    TrainingViewState& state, std::size_t run_index, const RectF& area) {
  const WidgetContext widgets = context.widgets();
  const WatchedRun& run = training.runs()[run_index];
  const TrainModelConfig& model = run.settings.model;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = context.fonts.small;
  ImVec2 at = corner(area);
  const float room = static_cast<float>(area.x + area.width) - at.x - widgets.px(choice_room);
  double used = widgets.px(heads_title);
  if (training.runs().size() < 2) {
    const std::vector<std::string> lines =
        wrapped_lines("Its heads on a held-out example: " + example_text(training), font, room,
                      training_example_lines(area.height, context.scale));
    const float height = write_lines(list, font, at, im_color(context.palette.text_dim), lines);
    used += height - height / static_cast<float>(lines.size());
    ui_probe("training/example", at, {at.x + room, static_cast<float>(area.y + used)});
  } else {
    const float middle = std::round(at.y + 0.55f * font->FontSize);
    list->AddLine({at.x, middle}, {at.x + widgets.px(10), middle},
                  im_color(color_of_run(context.palette, run_index)), widgets.px(3));
    at.x += widgets.px(14);
    const std::string title =
        fitted_text(fmt::format("{}, step {}", label_of_run(run), run.step()), font, room);
    write_text(list, font, at, im_color(context.palette.text_dim), title);
    // At the right end, where the choice is over the other run.
    const float legend = habit_legend_width(context), right = static_cast<float>(area.x + area.width);
    if (run_index == 0 && at.x + width_of(font, title) + legend < right)
      draw_habit_legend(context, {right - legend, at.y}, right + 1.0f);
  }
  if (!run.now) return std::nullopt;

  const TrainingMaps maps = training_maps({area.x, area.y + used, area.width, area.height - used},
                                          model.layers, model.heads, context.scale);
  const Index side = run.now->maps.front()->shape().size(2);
  if (!state.maps.causal_bias || state.maps.causal_bias->shape().size(0) != side)
    state.maps.causal_bias = blocked_above_diagonal(side);
  std::vector<MapPlace> places;
  for (Index layer = 0; layer < model.layers; ++layer)
    for (Index head = 0; head < model.heads; ++head)
      places.push_back({layer, head, plane_geometry(maps.plane(layer, head), side, side),
                        spec_of(run.now->maps[static_cast<std::size_t>(layer)], head,
                                model.causal ? state.maps.causal_bias : nullptr, context.theme)});
  std::vector<HeatmapPlane> planes;
  for (const MapPlace& place : places)
    planes.push_back({&place.spec, corner(place.plane), far_corner(place.plane)});
  draw_heatmap_planes(list, context.heatmaps, planes);
  std::optional<TrainedHead> pressed;
  for (const MapPlace& place : places) {
    draw_name(context, run, place, static_cast<float>(maps.name_height));
    const std::string id = fmt::format("map {} {}.{}", run_index, place.layer, place.head);
    ImGui::SetCursorScreenPos(corner(place.plane));
    const bool clicked = ImGui::InvisibleButton(
        id.c_str(), {static_cast<float>(place.plane.width), static_cast<float>(place.plane.height)});
    const bool focused = focus_stop(context.focus, ImGui::GetID(id.c_str()), FocusKeys::press);
    ui_probe(fmt::format("training/map/{}/{}.{}", run_index, place.layer, place.head), corner(place.plane),
             far_corner(place.plane));
    tooltip(widgets,
            "A row for each token: how much weight it gives to each token that it sees. Click to look "
            "inside the model of "
            "this step, number by number.");
    if (ImGui::IsItemHovered()) {
      list->AddRect(corner(place.plane), far_corner(place.plane), im_color(context.palette.focus), 0.0f, 0,
                    widgets.px(1.5f));
      if (const auto cell = place.plane.cell_at(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y))
        state.told = cell_words(training, place.spec, cell->first, cell->second);
    }
    if (clicked || (focused && press_key_pressed()))
      pressed = TrainedHead{run_index, place.layer, place.head};
  }
  return pressed;
}

}  // namespace

std::optional<TrainedHead> draw_training_heads(const PanelContext& context, const LiveTraining& training,
                                               TrainingViewState& state, const RectF& area) {
  std::optional<TrainedHead> pressed;
  for (std::size_t i = 0; i < training.runs().size(); ++i) {
    const RectF run =
        training_run_area(area, static_cast<Index>(i), std::ssize(training.runs()), context.scale);
    const auto of_run = draw_run(context, training, state, i, run);
    if (of_run) pressed = of_run;
  }
  return pressed;
}

}  // namespace headwise
