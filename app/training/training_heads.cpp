#include "app/training/training_heads.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/training_layout.h"
#include "app/panels/panel_frame.h"
#include "app/training/training_plot.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr std::array<std::string_view, habit_count> what{"the token before",
                                                         "what came after the same token before",
                                                         "the same token elsewhere", "the first token"};

constexpr float row_pitch = 20.0f, name_width = 128.0f, value_width = 36.0f, dot_radius = 3.5f,
                dot_gap = 4.0f, legend_gap = 12.0f, least_curve = 24.0f;  // design units

// The habits of a head in a point that has them.
const TrainedHabits& of_head(const TrainingPoint& point, Index layer, Index head) {
  return point.habits[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
}

// A dot in the habit's colour, on a line of text that begins at `at`. Returns where its name begins.
float draw_habit_dot(const PanelContext& context, ImVec2 at, Habit habit) {
  const float radius = context.px(dot_radius);
  const ImVec2 middle{at.x + radius, std::floor(at.y + 0.6f * context.fonts.small->FontSize)};
  context.painter().dot(middle, radius, color_of_habit(context.palette, habit));
  return at.x + 2 * radius + context.px(dot_gap);
}

// The habit that a head's line shows: the strongest one where it stands or, before it has one,
// of all that was measured.
std::optional<Habit> habit_shown(const WatchedRun& run, const TrainingPoint& now, Index layer, Index head) {
  if (const auto has = habit_at(run, now, layer, head)) return has;
  int strongest = -1;
  double most = habit_from;
  for (const TrainingPointPtr& point : run.past)
    for (int i = 0; i < habit_count; ++i) {
      const auto habit = static_cast<Habit>(i);
      const double value = habit_of(of_head(*point, layer, head), habit).value_or(0.0);
      if (value < most ||
          !has_habit(of_head(*point, layer, head), of_head(*run.past.front(), layer, head), habit))
        continue;
      most = value;
      strongest = i;
    }
  if (strongest < 0) return std::nullopt;
  return static_cast<Habit>(strongest);
}

void draw_row(const PanelContext& context, const WatchedRun& run, const TrainingPoint& now, Index layer,
              Index head, const RectF& row, Index steps) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const Palette& palette = context.palette;
  const auto has = habit_at(run, now, layer, head);
  const auto shown = habit_shown(run, now, layer, head);
  const ImU32 ink = im_color(has ? palette.text : palette.text_dim);
  const float y = float(row.y) + 0.5f * (float(row.height) - font->FontSize);
  const std::string number = trained_head_name(layer, head);
  float x_of_words = paint.say(font, {float(row.x), y}, ink, number).max.x + paint.px(dot_gap);
  if (has) x_of_words = draw_habit_dot(context, {x_of_words, y}, *has);
  const auto right = float(row.x + row.width);
  // Where there is no room for a curve, the words take it, up to the value.
  const bool narrow = row.width < paint.px(name_width + value_width + least_curve);
  const float end_of_words =
      narrow ? right - (has ? paint.px(value_width) : 0.0f) : float(row.x) + paint.px(name_width - 6);
  const std::string words(!has ? "none of these" : narrow ? habit_short_name(*has) : habit_name(*has));
  paint.say(font, {x_of_words, y}, ink, fitted_text(words, font, end_of_words - x_of_words));
  if (has)
    paint.say(context.fonts.mono_small, {right, y}, ink,
              fmt::format("{:.2f}", habit_of(of_head(now, layer, head), *has).value_or(0.0)), Align::right);
  if (narrow) return;

  const double left = row.x + paint.px(name_width), width = row.width - paint.px(name_width + value_width);
  const auto at = [&](double step, double value) {
    return ImVec2{float(left + width * std::min(1.0, step / static_cast<double>(steps))),
                  float(row.y + row.height - 3.0 - (row.height - 6.0) * std::clamp(value, 0.0, 1.0))};
  };
  const ImVec2 begin = at(0, 0), end = at(static_cast<double>(steps), 0);
  paint.line(begin, end, palette.border);
  if (!shown) return;
  std::vector<ImVec2> line;
  for (const TrainingPointPtr& point : run.past)
    if (const auto value = habit_of(of_head(*point, layer, head), *shown))
      line.push_back(at(static_cast<double>(point->step), *value));
  paint.list->AddPolyline(line.data(), static_cast<int>(line.size()),
                          im_color(color_of_habit(palette, *shown)), 0, paint.px(1.6f) * palette.stroke);
  const float x = at(static_cast<double>(run.step()), 0).x;
  paint.line({x, float(row.y) + 2}, {x, float(row.y + row.height) - 2}, palette.text_faint);
}

double least_pitch(const PanelContext& context) {
  return std::floor(1.15 * context.fonts.small->FontSize);
}

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

std::string cell_words(const LiveTraining& training, const TrainModelConfig& model, const HeatmapSpec& spec,
                       Index row, Index column) {
  if (cell_kind(spec, row, column) == CellKind::blocked)
    return fmt::format(
        "“{}” ({}) does not see “{}” ({}): {}", token_text(training, row), row, token_text(training, column),
        column,
        model.causal && column > row ? "the causal mask hides what comes later" : "it is outside the window");
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
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const TrainingPointPtr now = run.measured_now();
  const auto has = now ? habit_at(run, *now, place.layer, place.head) : std::nullopt;
  const ImVec2 at{corner(place.plane).x, corner(place.plane).y - name_height + paint.px(1)};
  const auto width = float(place.plane.width);
  const std::string number = trained_head_name(place.layer, place.head);
  paint.say(font, at, has ? context.palette.text : context.palette.text_dim, number);
  if (!has) return;
  const Habit habit = has.value_or(Habit::previous_token);
  const float left = draw_habit_dot(context, {at.x + width_of(font, number) + paint.px(5), at.y}, habit) - at.x;
  for (const std::string_view word : {habit_name(habit), habit_short_name(habit)}) {
    if (width_of(font, word) > width - left) continue;
    paint.say(font, {at.x + left, at.y}, context.palette.text, std::string(word));
    break;
  }
}

std::optional<TrainedHead> draw_run(const PanelContext& context, const LiveTraining& training,
                                    TrainingViewState& state, std::size_t run_index, const RectF& area) {
  const Painter paint = context.painter();
  const WatchedRun& run = training.runs()[run_index];
  const TrainModelConfig& model = run.settings.model;
  ImFont* font = context.fonts.small;
  ImVec2 at = corner(area);
  const float room = float(area.x + area.width) - at.x - paint.px(choice_room);
  double used = paint.px(heads_title);
  if (training.runs().size() < 2) {
    const std::vector<std::string> lines =
        wrapped_lines("Its heads on a held-out example: " + example_text(training), font, room,
                      training_example_lines(area.height, context.scale));
    const float height = write_lines(paint, font, at, context.palette.text_dim, lines);
    used += height - height / float(lines.size());
    ui_probe("training/example", at, {at.x + room, float(area.y + used)});
  } else {
    const float middle = std::round(at.y + 0.55f * font->FontSize);
    paint.line({at.x, middle}, {at.x + paint.px(10), middle}, color_of_run(context.palette, run_index),
               paint.px(3));
    at.x += paint.px(14);
    const std::string title =
        fitted_text(fmt::format("{}, step {}", label_of_run(run), run.step()), font, room);
    paint.say(font, at, context.palette.text_dim, title);
    // At the right end, where the choice is over the other run.
    const float legend = habit_legend_width(context), right = float(area.x + area.width);
    if (run_index == 0 && at.x + width_of(font, title) + legend < right)
      draw_habit_legend(context, {right - legend, at.y}, right + 1.0f);
  }
  if (!run.now) return std::nullopt;

  const TrainingMaps maps = training_maps({area.x, area.y + used, area.width, area.height - used},
                                          model.layers, model.heads, context.scale);
  const Index side = run.now->maps.front()->shape().size(2);
  TrainingMapsState& drawn = state.maps[run_index];
  if (const PositionWindow seen = seen_by_token(model); drawn.tokens != side || drawn.seen != seen)
    drawn = {seen, side, hidden_from_tokens(model, side)};
  std::vector<MapPlace> places;
  for (Index layer = 0; layer < model.layers; ++layer)
    for (Index head = 0; head < model.heads; ++head)
      places.push_back(
          {layer, head, plane_geometry(maps.plane(layer, head), side, side),
           trained_map(run.now->maps[static_cast<std::size_t>(layer)], head, drawn.hidden, context.theme)});
  std::vector<HeatmapPlane> planes;
  for (const MapPlace& place : places)
    planes.push_back({&place.spec, corner(place.plane), far_corner(place.plane)});
  draw_heatmap_planes(paint.list, context.heatmaps, planes);
  std::optional<TrainedHead> pressed;
  for (const MapPlace& place : places) {
    draw_name(context, run, place, float(maps.name_height));
    const std::string id = fmt::format("map {} {}.{}", run_index, place.layer, place.head);
    ImGui::SetCursorScreenPos(corner(place.plane));
    const PressItem item = press_item(paint, id.c_str(), {float(place.plane.width), float(place.plane.height)});
    ui_probe(fmt::format("training/map/{}/{}.{}", run_index, place.layer, place.head), place.plane);
    tooltip(paint,
            "A row for each token: how much weight it gives to each token that it sees. Click to look inside "
            "the model of this step, number by number.");
    if (item.hovered) {
      paint.outline(place.plane, context.palette.focus, paint.px(1.5f));
      if (const auto cell = place.plane.cell_at(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y))
        state.readout = cell_words(training, model, place.spec, cell->first, cell->second);
    }
    if (item.pressed) pressed = TrainedHead{run_index, place.layer, place.head};
  }
  return pressed;
}

}  // namespace

Rgba8 color_of_habit(const Palette& palette, Habit habit) {
  constexpr std::array<Index, habit_count> hues{0, 2, 4, 5};  // the four that are furthest apart in all themes
  return head_hue(palette, hues[static_cast<std::size_t>(habit)]);
}

std::optional<Habit> habit_at(const WatchedRun& run, const TrainingPoint& point, Index layer, Index head) {
  const TrainedHabits& now = of_head(point, layer, head);
  return strongest_habit(now, run.past.empty() ? now : of_head(*run.past.front(), layer, head));
}

float habit_legend_width(const PanelContext& context) {
  float width = 0.0f;
  for (int i = 0; i < habit_count; ++i)
    width += width_of(context.fonts.small, habit_name(static_cast<Habit>(i))) +
             context.px(2 * dot_radius + dot_gap + legend_gap);
  return width - context.px(legend_gap);
}

void draw_habit_legend(const PanelContext& context, ImVec2 at, float right) {
  ImFont* font = context.fonts.small;
  const float left = at.x, room_of_dot = context.px(2 * dot_radius + dot_gap);
  for (int i = 0; i < habit_count; ++i) {
    const auto habit = static_cast<Habit>(i);
    const std::string name(habit_name(habit));
    if (at.x + room_of_dot + width_of(font, name) > right) break;
    at.x = draw_habit_dot(context, at, habit);
    at.x = context.painter().say(font, at, context.palette.text_dim, name).max.x + context.px(legend_gap);
  }
  const ImVec2 size{std::max(1.0f, at.x - left), font->FontSize};
  ImGui::SetCursorScreenPos({left, at.y});
  ImGui::Dummy(size);
  named_item(context, "training/legend",
             "The colours say what a head gives most of its weight to: the token before, what came after the "
             "same token before (induction), the same token elsewhere, or the first token. A head has the "
             "colour and the name once that weight is 0.3 or more and 0.2 above its value before the first "
             "step, so that no head is named for how it happened to begin; without either it does none of "
             "these. Measured on held-out examples. In the maps, dark is no weight and yellow all of it.");
}

double least_habits_height(const PanelContext& context, const TrainModelConfig& model) {
  return static_cast<double>(habit_grid(model.layers, model.heads).rows) * least_pitch(context);
}

void draw_training_habits(const PanelContext& context, const WatchedRun& run, const RectF& area, Index steps,
                          std::string& readout) {
  const TrainingPointPtr now = run.measured_now();
  if (!now) return;
  ImGui::SetCursorScreenPos({float(area.x), float(area.y)});
  ImGui::BeginChild("habits", {float(area.width), float(area.height)});
  const TrainModelConfig& model = run.settings.model;
  const auto [columns, rows] = habit_grid(model.layers, model.heads);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const double width = (ImGui::GetContentRegionAvail().x - context.px(6)) / static_cast<double>(columns);
  const double fitting = std::floor(area.height / static_cast<double>(rows));
  const double pitch = std::clamp(fitting, least_pitch(context), static_cast<double>(context.px(row_pitch)));
  for (Index layer = 0; layer < model.layers; ++layer)
    for (Index head = 0; head < model.heads; ++head) {
      const RectF row{from.x + static_cast<double>(layer % columns) * width,
                      from.y + static_cast<double>(layer / columns * model.heads + head) * pitch,
                      width - (columns > 1 ? context.px(14) : 0.0f), pitch};
      if (!ImGui::IsRectVisible(corner(row), far_corner(row))) continue;
      draw_row(context, run, *now, layer, head, row, steps);
      ui_probe(fmt::format("training/habit/{}", trained_head_name(layer, head)), row);
      if (!ImGui::IsMouseHoveringRect(corner(row), far_corner(row))) continue;
      readout = "head " + trained_head_name(layer, head) + ", mean weight on";
      for (int i = 0; i < habit_count; ++i)
        if (const auto value = habit_of(of_head(*now, layer, head), static_cast<Habit>(i)))
          readout += fmt::format("{} {}: {:.2f}", i ? "," : "", what[static_cast<std::size_t>(i)], *value);
    }
  ImGui::Dummy({float(width), float(static_cast<double>(rows) * pitch)});
  ImGui::EndChild();
}

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

std::vector<std::string> wrapped_lines(const std::string& text, ImFont* font, float width, std::size_t most) {
  const std::string broken = with_line_breaks(text, font, width);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (lines.size() + 1 < most) {
    const std::size_t end = broken.find('\n', begin);
    if (end == std::string::npos) break;
    lines.push_back(broken.substr(begin, end - begin));
    begin = end + 1;
  }
  std::string rest = broken.substr(begin);
  for (char& c : rest)
    if (c == '\n') c = ' ';
  lines.push_back(fitted_text(rest, font, width));
  return lines;
}

float write_lines(const Painter& paint, ImFont* font, ImVec2 at, const Ink& ink,
                  const std::vector<std::string>& lines) {
  const float pitch = std::round(1.25f * font->FontSize), top = at.y;
  for (const std::string& line : lines) {
    paint.say(font, at, ink, line);
    at.y += pitch;
  }
  return at.y - top;
}

}  // namespace headwise
