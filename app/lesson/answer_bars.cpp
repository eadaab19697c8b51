#include "app/lesson/page_answers.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/axis_labels.h"
#include "app/widgets/focus_order.h"
#include "app/widgets/painter.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/export/plane_rule.h"

namespace headwise {
namespace {

// Design units
constexpr float presentation_chart_height = 200, chart_gap = 24;
constexpr float chart_height = 170, least_words = 380, least_chart = 280, most_chart = 520, bar_pitch = 36;
constexpr float caption_line = 20, ticks = 16;
constexpr float slant = 40.0f;  // degrees
constexpr double by_key = 0.05, by_small_key = 0.01;

struct Chart {
  PlaneGeometry plane;  // one row, a column for each weight
  float degrees = 0.0f;

  float top() const { return static_cast<float>(plane.y); }
  float bottom() const { return static_cast<float>(plane.y + plane.height); }
  float y_of(double weight) const {
    return std::round(bottom() - static_cast<float>(std::clamp(weight, 0.0, 1.0)) * (bottom() - top()));
  }
  std::size_t bar_at(float x) const {
    const float width = static_cast<float>(plane.width) / static_cast<float>(plane.cols);
    const float bar = std::floor((x - static_cast<float>(plane.x)) / width);
    return static_cast<std::size_t>(std::clamp(bar, 0.0f, static_cast<float>(plane.cols - 1)));
  }
  double weight_at(float y) const {
    const double weight = static_cast<double>((bottom() - y) / (bottom() - top()));
    return std::clamp(std::round(weight * 100.0) / 100.0, 0.0, 1.0);
  }
};

// Labels are level where the widest fits under its bar, else slanted.
Chart chart_in(const PanelContext& context, const std::vector<std::string>& labels, ImVec2 at, ImVec2 size) {
  const float u = context.scale;
  const auto count = static_cast<Index>(labels.size());
  const float widest = column_label_width(context.widgets(), labels, count);
  const float pitch = (size.x - ticks * u) / static_cast<float>(count);
  Chart chart;
  chart.degrees = widest + 4 * u <= pitch ? 0.0f : slant;
  const float turned = chart.degrees * 3.14159265f / 180.0f;
  const float line = context.presentation ? context.labels.size : context.fonts.small->FontSize;
  const float below = 6 * u + line + std::sin(turned) * widest, right = std::cos(turned) * widest * 0.7f;
  const float top = caption_line * u;
  chart.plane = plane_geometry({std::floor(at.x + ticks * u), std::floor(at.y + top),
                                std::floor(size.x - ticks * u - (chart.degrees > 0.0f ? right : 0.0f)),
                                std::floor(std::max(20 * u, size.y - top - below))},
                               1, count);
  return chart;
}

// Every bar between the last one that the mouse was over and this one: a fast stroke leaves none out.
void draw_with_mouse(const Chart& chart, PlaylistWalk::Given& given) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const std::size_t bar = chart.bar_at(mouse.x);
  const double weight = chart.weight_at(mouse.y);
  const std::size_t from = given.last_bar.value_or(bar);
  const double first = given.weights[from];
  const double steps = static_cast<double>(from < bar ? bar - from : from - bar);
  for (std::size_t i = std::min(from, bar); i <= std::max(from, bar); ++i) {
    const double away = static_cast<double>(i < from ? from - i : i - from);
    if (i != from || steps == 0.0)
      given.weights[i] = steps == 0.0 ? weight : first + (weight - first) * away / steps;
  }
  given.bar = bar;
  given.last_bar = bar;
}

void draw_with_keys(PlaylistWalk::Given& given) {
  const std::size_t last = given.weights.size() - 1;
  if (key_pressed(Key::left) && given.bar > 0) --given.bar;
  if (key_pressed(Key::right) && given.bar < last) ++given.bar;
  if (key_pressed(Key::home)) given.bar = 0;
  if (key_pressed(Key::end)) given.bar = last;
  const ImGuiIO& io = ImGui::GetIO();
  const double step = io.KeyCtrl ? 1.0 : io.KeyShift ? by_small_key : by_key;
  double& bar = given.weights[given.bar];
  if (key_pressed(Key::up)) bar = std::min(1.0, std::round((bar + step) * 100.0) / 100.0);
  if (key_pressed(Key::down)) bar = std::max(0.0, std::round((bar - step) * 100.0) / 100.0);
}

void draw_axis(const PanelContext& context, const Chart& chart) {
  const Painter paint = context.painter();
  ImFont* font = context.presentation ? context.fonts.sans : context.fonts.small;
  const float left = static_cast<float>(chart.plane.x),
              right = static_cast<float>(chart.plane.x + chart.plane.width);
  const float line = std::max(1.0f, std::round(context.scale));
  for (const auto& [weight, text] : {std::pair{0.0, "0"}, {0.5, ""}, {1.0, "1"}}) {
    const float y = chart.y_of(weight);
    paint.line({left, y}, {right, y}, weight == 0.0 ? paint.palette.text_faint : paint.palette.border, line);
    paint.text(font, {left - 5 * context.scale, std::round(y - 0.5f * font->FontSize)},
               paint.palette.text_dim, text, Align::right);
  }
}

// Filled: computed. Outlined: drawn.
void draw_bars_of(const PanelContext& context, const Chart& chart, const std::vector<double>& weights,
                  bool drawn) {
  const Painter paint = context.painter();
  const Palette& palette = context.palette;
  const float line = std::max(1.0f, std::round(1.5f * context.scale * palette.stroke));
  const float width = static_cast<float>(chart.plane.width) / static_cast<float>(weights.size());
  const float margin = std::min(0.18f * width, 6 * context.scale);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    const float left = static_cast<float>(chart.plane.x) + static_cast<float>(i) * width;
    const float shrink = drawn ? margin : margin + line;
    const ImVec2 min(std::round(left + shrink), chart.y_of(weights[i])),
        max(std::round(left + width - shrink), chart.bottom());
    paint.fill(min, max, drawn ? Ink(palette.focus, 0.12f) : Ink(palette.bar));
    if (drawn) paint.outline(min, max, palette.focus, line);
  }
}

std::string caption_of(const PlaylistWalk& walk, std::optional<std::size_t> bar, const ImFont* font) {
  const std::vector<double>& drawn = walk.given.weights;
  const double sum = walk.given.sum_of_bars();
  const auto named = [&](std::size_t i) {
    return fmt::format("“{}” ", drawable_text(axis_word(walk.words.weight_labels[i]), font));
  };
  if (walk.answered) {
    const std::vector<double>& right = walk.words.key.weights->weights;
    const bool both = walk.given.made && drawn.size() == right.size();
    if (bar && both)
      return named(*bar) + fmt::format("yours {:.2f}, computed {:.2f}", drawn[*bar], right[*bar]);
    if (bar) return named(*bar) + fmt::format("{:.2f}", right[*bar]);
    return both ? "filled: computed, outlined: yours" : "filled: computed";
  }
  if (sum == 0.0) return "drag over the bars, or type 0–9 and use the arrows";
  const std::string at = bar ? named(*bar) + fmt::format("{:.2f}, ", drawn[*bar]) : "";
  return at + (std::abs(sum - 1.0) <= nearly_one ? "sum 1"
                                                 : fmt::format("sum {:.2f}, scaled to 1 when you answer", sum));
}

}  // namespace

BarsRoom answer_bars_room(float scale, float wrap, const PlaylistWalk& walk, bool presentation) {
  const PlaylistPage* page = walk.shown();
  if (!page || !page->answer || !page->answer->is_weights() || walk.edits_words) return {};
  BarsRoom room;
  room.height = std::round((presentation ? presentation_chart_height : chart_height) * scale);
  const float count = static_cast<float>(std::max<std::size_t>(walk.words.weight_labels.size(), 8));
  const float wanted = std::clamp(count * bar_pitch, least_chart, most_chart) * scale;
  const float left = wrap - least_words * scale;
  if (left >= least_chart * scale)
    room.beside = std::round(std::min(wanted, left));
  else
    room.below = room.height;
  return room;
}

float words_beside_bars(float scale, float width, const PlaylistWalk& walk) {
  const float chart = answer_bars_room(scale, width, walk).beside;
  return chart > 0.0f ? width - chart - std::round(chart_gap * scale) : width;
}

void draw_answer_bars(const PanelContext& context, PlaylistWalk& walk, ImVec2 size) {
  const WidgetContext widgets = context.widgets();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImFont* font = context.presentation ? context.fonts.caption : context.fonts.small;
  const Painter paint = context.painter();
  const auto say = [&](ImVec2 place, const std::string& text) {
    paint.say(font, place, paint.palette.text_dim, fitted_clauses(text, font, size.x));
  };
  if (!walk.words.key.weights || walk.words.weight_labels.empty()) {
    say(at, "As the page is now, there is no row of weights here.");
    ImGui::Dummy(size);
    return;
  }
  const std::vector<std::string>& labels = walk.words.weight_labels;
  const std::vector<double>& right = walk.words.key.weights->weights;
  PlaylistWalk::Given& given = walk.given;
  if (!walk.answered && given.weights.size() != right.size()) {
    given.weights.assign(right.size(), 0.0);
    given.bar = 0;
  }
  const Chart chart = chart_in(context, labels, at, size);
  const ImVec2 min(static_cast<float>(chart.plane.x), chart.top()),
      max(static_cast<float>(chart.plane.x + chart.plane.width), chart.bottom());
  ImGui::SetCursorScreenPos(min);
  ImGui::InvisibleButton("caption/bars", {max.x - min.x, max.y - min.y});
  ui_probe_item("caption/bars");
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  std::optional<std::size_t> looked_at;
  if ((hovered || held) && !context.picture) looked_at = chart.bar_at(ImGui::GetIO().MousePos.x);
  if (!walk.answered) {
    if (std::exchange(given.wants_focus, false) && context.focus)
      take_focus(*context.focus, ImGui::GetID("caption/bars"));
    const bool focused = focus_stop(context.focus, ImGui::GetID("caption/bars"), FocusKeys::choose);
    if (held) {
      draw_with_mouse(chart, given);
      if (context.focus) take_focus(*context.focus, ImGui::GetID("caption/bars"));  // Enter answers then
    } else {
      given.last_bar.reset();
    }
    if (focused) {
      draw_with_keys(given);
      if (!hovered) looked_at = given.bar;
      if (!context.focus->moved && press_key_pressed() && given.sum_of_bars() > 0.0) given.done = true;
    }
    if (!held)
      tooltip(widgets,
              "the row of weights as you expect it: drag over the bars. By keys: ← → choose a bar, 0–9 set "
              "it to a tenth, ↑ ↓ raise and lower it (Shift: by 0.01), Enter answers");
  } else {
    tooltip(widgets, "filled: the computed weights; outlined: those you drew");
  }
  if (looked_at) {
    const RectF column = chart.plane.cell(0, static_cast<Index>(*looked_at));
    paint.fill({static_cast<float>(column.x), chart.top()},
               {static_cast<float>(column.x + column.width), chart.bottom()}, paint.palette.control);
  }
  draw_axis(context, chart);
  if (walk.answered) draw_bars_of(context, chart, right, false);
  if (given.weights.size() == right.size() && (!walk.answered || given.made))
    draw_bars_of(context, chart, given.weights, true);
  const auto chosen = looked_at ? std::optional<Index>(static_cast<Index>(*looked_at)) : std::nullopt;
  draw_column_labels(paint, chart.plane, labels, chosen, chart.degrees);
  if (!context.picture || walk.answered) say({min.x, at.y}, caption_of(walk, looked_at, font));
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy(size);
}

}  // namespace headwise
