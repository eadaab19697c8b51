#include "app/training/update_view.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "app/training/training_heads.h"
#include "app/training/training_plot.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/heatmap.h"

namespace headwise {
namespace {

constexpr float choice_height = 30.0f, picture_title = 18.0f, picture_gap = 12.0f,
                words_width = 600.0f;  // design units

// A picture of the whole parameter, or of the batch.
struct UpdatePicture {
  const char* name;
  const char* what;
  TensorPtr values;
  bool of_parameter = true;
};

std::vector<UpdatePicture> pictures_shown(const ExplainedCell& cell) {
  std::vector<UpdatePicture> pictures{
      {"w", "the parameter before the step", cell.pictures.value},
      {"gradient g", "the gradient that the step uses, after clipping", cell.pictures.gradient}};
  if (cell.pictures.first)
    pictures.push_back(
        {cell.pictures.second ? "m̂" : "m", "the running mean of the gradients", cell.pictures.first});
  if (cell.pictures.second)
    pictures.push_back({"v̂", "the running mean of their squares", cell.pictures.second});
  pictures.push_back({"change", "the parameter after the step minus before it", cell.pictures.change});
  pictures.push_back(
      {"g by token",
       "what each token of the batch adds to the gradient of the chosen number: a row for each sequence",
       cell.sources, false});
  return pictures;
}

std::string default_parameter(const std::vector<TrainParameter>& parameters) {
  std::string name;
  for (const TrainParameter& parameter : parameters)
    if (parameter.role == TrainRole::in_weight) name = parameter.name;
  return name;
}

HeatmapSpec update_spec(const UpdatePicture& picture, Theme theme) {
  HeatmapSpec spec;
  spec.values = matrix_view(picture.values);
  const bool diverging = std::string_view(picture.name) != "v̂";
  spec.color_map = diverging ? ColorMap::blue_orange : ColorMap::viridis;
  spec.range = range_of(std::span<const MatrixView>(&spec.values, 1), diverging, false);
  spec.theme = theme;
  return spec;
}

// The pictures side by side, each with its name; returns the width that they took.
double draw_pictures(const PanelContext& context, const ExplainedCell& cell, UpdateViewState& state,
                     const RectF& area, std::string& readout) {
  const Painter paint = context.painter();
  const std::vector<UpdatePicture> pictures = pictures_shown(cell);
  const double gap = paint.px(picture_gap), title = paint.px(picture_title);
  const double most_width =
      (area.width - gap * static_cast<double>(pictures.size() - 1)) / static_cast<double>(pictures.size());
  const double most_height = area.height - title;
  if (most_height < 8.0) return 0.0;
  double x = area.x;
  std::vector<HeatmapSpec> specs;
  for (const UpdatePicture& picture : pictures) specs.push_back(update_spec(picture, context.theme));
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const HeatmapSpec& spec = specs[i];
    const auto rows = static_cast<double>(spec.values.rows), columns = static_cast<double>(spec.values.cols);
    const double side = std::min({most_width / columns, most_height / rows, static_cast<double>(paint.px(24))});
    // A long vector is a strip that is still to be seen.
    const double width = std::max(1.0, side * columns), height = std::max<double>(paint.px(6), side * rows);
    const PlaneGeometry plane =
        plane_geometry({x, area.y + title, width, height}, spec.values.rows, spec.values.cols);
    paint.say(context.fonts.small, {float(x), float(area.y)}, context.palette.text_dim,
              fitted_text(pictures[i].name, context.fonts.small, float(std::max(width, most_width))));
    draw_heatmap_plane(paint.list, context.heatmaps, spec, corner(plane), far_corner(plane));
    const CellPlace marked = pictures[i].of_parameter ? cell.place : CellPlace{cell.sequence, cell.position};
    draw_box_outline(paint, plane, CellBox{marked.row, marked.row + 1, marked.column, marked.column + 1},
                     im_color(context.palette.focus), paint.px(1.5f));
    ImGui::SetCursorScreenPos(corner(plane));
    const std::string id = fmt::format("picture {}", i);
    const bool pressed = ImGui::InvisibleButton(id.c_str(), {float(plane.width), float(plane.height)});
    ui_probe("training/picture", static_cast<int>(i), plane);
    tooltip(paint, pictures[i].what);
    std::optional<std::pair<Index, Index>> at;
    if (ImGui::IsItemHovered()) at = plane.cell_at(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y);
    const auto keyed =
        i == 0 ? focus_map(context.focus, ImGui::GetID(id.c_str()), corner(plane), far_corner(plane),
                           {static_cast<int>(spec.values.rows), static_cast<int>(spec.values.cols)},
                           {static_cast<int>(cell.place.row), static_cast<int>(cell.place.column)})
               : std::nullopt;
    if (keyed) at = {keyed->first, keyed->second};
    if (at)
      readout = fmt::format("{}: {} [{}, {}] = {:.6g}", pictures[i].name, pictures[i].what, at->first,
                            at->second, spec.values.value(at->first, at->second));
    if (at && pictures[i].of_parameter && (pressed || (keyed && context.focus->cell_pressed)))
      state.place = CellPlace{at->first, at->second};
    x += std::max(width, std::min(most_width, static_cast<double>(paint.px(70)))) + gap;
  }
  return x - gap - area.x;
}

void draw_lines(const PanelContext& context, const ExplainedCell& cell, const std::string& of,
                const RectF& area) {
  // They are scrolled where they do not fit.
  ImGui::SetCursorScreenPos(corner(area));
  ImGui::BeginChild("update lines", {float(area.width), float(area.height)});
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x;
  float y = from.y;
  const auto line = [&](ImFont* font, Rgba8 color, const std::string& text) {
    const std::string broken = with_line_breaks(text, font, room);
    context.painter().say(font, {from.x, y}, color, broken);
    y += 1.3f * font->FontSize * float(1 + std::ranges::count(broken, '\n'));
  };
  std::string before = of;
  for (const UpdateLine& each : update_lines(cell)) {
    line(each.computed ? context.fonts.mono_small : context.fonts.small,
         each.result ? context.palette.text : context.palette.text_dim, before + each.text);
    before.clear();
  }
  ImGui::Dummy({1, y - from.y});
  ImGui::EndChild();
  tooltip(context,
          "lr is the learning rate: how far a step goes, after warm-up and schedule. g is the gradient. β₁ "
          "and β₂ are how much of the running means m of the gradients and v of their squares is kept in "
          "each step; m̂ and v̂ are those means corrected for beginning at 0. ε keeps the division from "
          "failing. λ is the weight decay: it draws the number towards 0.");
  ui_probe("training/formula", corner(area), {far_corner(area).x, std::min(y, far_corner(area).y)});
}

}  // namespace

void draw_update_view(const PanelContext& context, LiveTraining& training, ExplainedCells& cells,
                      UpdateViewState& state, std::size_t run, const RectF& area, std::string& readout) {
  const TrainingSettings& settings = training.runs()[run].settings;
  const std::vector<TrainParameter> parameters = train_parameters(settings.model);
  auto chosen = std::ranges::find(parameters, state.parameter, &TrainParameter::name);
  if (chosen == parameters.end())
    chosen = std::ranges::find(parameters, default_parameter(parameters), &TrainParameter::name);
  ImFont* font = context.fonts.small;
  context.painter().say(font, {float(area.x), float(area.y) + context.px(5)}, context.palette.text_dim,
                        "parameter");
  ImGui::SetCursorScreenPos({float(area.x) + width_of(font, "parameter") + context.px(8), float(area.y)});
  DropDownGroup names;
  for (const TrainParameter& parameter : parameters) names.words.push_back(parameter.name);
  const DropDownResult pick =
      drop_down(context, "training/parameter", chosen->name, std::span(&names, 1), state.parameters);
  if (pick.chosen) {
    state.parameter = *pick.chosen;
    state.place.reset();
    chosen = std::ranges::find(parameters, state.parameter, &TrainParameter::name);
  }
  const double used = context.px(choice_height);
  const RectF below{area.x, area.y + used, area.width, area.height - used};
  ImGui::SetCursorScreenPos(corner(below));
  const auto standing = training.current_state(run);
  if (!standing) {
    dim_sentence(context,
                 training.playing()
                     ? "Pause (Space): then the step that comes next can be looked at, number by number."
                     : "Computing …");
    return;
  }
  const CellQuestion question{training.number(),
                              run,
                              standing->step,
                              static_cast<std::size_t>(chosen - parameters.begin()),
                              state.place,
                              standing,
                              training.shared_task(),
                              settings};
  auto outcome = cells.of(question);
  // Until another number of the same parameter is explained, the last one stays.
  const auto& known = cells.known();
  if (!outcome && known && known->question.training == question.training && known->question.run == run &&
      known->question.parameter == question.parameter)
    outcome = known;
  if (!outcome) {
    dim_sentence(context, "Computing …");
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, 0.05);
    return;
  }
  if (!outcome->answer) return error_line(context, outcome->error);
  // The pictures stand at the left, the words beside them.
  const double text = std::min(0.5 * below.width, static_cast<double>(context.px(words_width)));
  const double gap = context.px(2 * picture_gap);
  const double used_width = draw_pictures(
      context, *outcome->answer, state, {below.x, below.y, below.width - text - gap, below.height}, readout);
  const std::string of = training.runs().size() > 1 ? label_of_run(training.runs()[run]) + ". " : "";
  draw_lines(context, *outcome->answer, of,
             {below.x + used_width + gap, below.y, below.width - used_width - gap, below.height});
}

}  // namespace headwise
