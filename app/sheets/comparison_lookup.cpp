// One query of one head: the value of the best key, or a mixture of all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "app/content/stage_marks.h"
#include "app/sheets/comparison_sheet.h"
#include "app/widgets/button.h"
#include "app/widgets/figures_table.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/slider.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"
#include "core/picture/number_text.h"

namespace headwise {
namespace {

constexpr std::size_t most_keys = 12;
constexpr std::array<FigureColumn, 5> columns{
    {{"key"}, {"masked score", true}, {"hard", true}, {"soft, at 1", true}, {"at this temperature", true}}};

// The selected head, and the query of the focused cell; without one the last query, which sees every key under a causal
// mask too.
void place(const PanelContext& context, LookupViewState& state) {
  if (state.placed) return;
  state.placed = true;
  state.head = context.selection.head;
  state.query = context.trace.tensors.masked_scores->shape().size(2) - 1;
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  const TensorPtr tensor = cell ? context.trace.tensor(cell->tensor) : nullptr;
  for (Index axis = 0; tensor && axis < tensor->shape().rank(); ++axis) {
    if (tensor->shape().name(axis) == "L") state.query = cell->index[static_cast<std::size_t>(axis)];
  }
}

// "◀ head 3 ▶": true if it stepped.
bool stepper(const WidgetContext& widgets, const char* id, const std::string& label, Index& value, Index count) {
  const Index before = value;
  const float height = widgets.px(22);
  ImGui::PushID(id);
  if (sign_button(widgets, "back", ButtonSign::back, height, {}, value > 0)) --value;
  ui_probe_item(fmt::format("comparison/{}/back", id));
  ImGui::SameLine(0.0f, widgets.px(6));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(label.c_str());
  ImGui::SameLine(0.0f, widgets.px(6));
  if (sign_button(widgets, "forward", ButtonSign::play, height, {}, value + 1 < count)) ++value;
  ui_probe_item(fmt::format("comparison/{}/forward", id));
  ImGui::PopID();
  return value != before;
}

void update(const TracePtr& trace, Index batch, LookupViewState& state) {
  const bool same_place = state.of == trace && state.of_head == state.head && state.of_query == state.query;
  if (!same_place) state.comparison = compare_lookups(*trace, batch, state.head, state.query);
  if (same_place && state.soft.temperature == state.temperature()) return;
  state.of = trace;
  state.of_head = state.head;
  state.of_query = state.query;
  state.soft = soft_lookup(*trace, batch, state.head, state.query, state.temperature());
  state.values.reset();
  if (!state.comparison.possible()) return;
  const std::vector<double>& hard = state.comparison.hard_result;
  const auto width = static_cast<Index>(hard.size());
  Tensor values(Shape{{"3", 3}, {"Dv", width}}, DType::f64);
  for (Index w = 0; w < width; ++w) {
    const auto i = static_cast<std::size_t>(w);
    values.set_flat(w, state.soft.result[i]);
    values.set_flat(width + w, hard[i]);
    values.set_flat(2 * width + w, state.soft.result[i] - hard[i]);
  }
  state.values = std::make_shared<const Tensor>(std::move(values));
}

void draw_weights(const PanelContext& context, const LookupViewState& state) {
  const LookupComparison& c = state.comparison;
  std::vector<std::size_t> keys(c.scores.size());
  std::iota(keys.begin(), keys.end(), std::size_t{0});
  if (keys.size() > most_keys) {
    std::ranges::stable_sort(keys, std::greater{}, [&](std::size_t key) {
      return std::isnan(c.soft.weights[key]) ? 2.0 : c.soft.weights[key];
    });
    keys.resize(most_keys);
    std::ranges::sort(keys);
  }
  const std::vector<std::string>& labels = context.inputs.labels.key;
  std::vector<FigureRow> rows;
  for (const std::size_t key : keys) {
    const bool winner = static_cast<Index>(key) == c.winner;
    const std::string name = key < labels.size() ? labels[key] : fmt::format("k {}", key);
    rows.push_back({{fmt::format("{} {}", key, name), decimal_text(c.scores[key]), winner ? "1" : "0",
                     decimal_text(c.soft.weights[key]), decimal_text(state.soft.weights[key])},
                    std::isnan(state.soft.weights[key]) ? 0.0 : state.soft.weights[key],
                    c.possible() && !winner});
  }
  draw_figures(context.widgets(), "comparison/keys", columns, rows);
  if (c.scores.size() > most_keys)
    dim_text(context.widgets(),
             fmt::format("… and {} more keys with less weight", c.scores.size() - most_keys));
}

// The three rows of values as cells, with one range.
void draw_values(const PanelContext& context, const LookupViewState& state) {
  if (!state.values || state.values->size() == 0) return;
  const WidgetContext widgets = context.widgets();
  ImFont* font = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, line = std::round(font->FontSize * 1.5f);
  const float left = at.x + widgets.px(92);
  HeatmapSpec spec;
  spec.values = matrix_view(state.values);
  spec.range = range_of({&spec.values, 1}, true, false);
  spec.theme = context.theme;
  constexpr const char* names[] = {"soft value", "hard value", "soft − hard"};
  for (int row = 0; row < 3; ++row) {
    const float y = at.y + line * static_cast<float>(row);
    list->AddText(font, font->FontSize, {at.x, std::round(y + 0.5f * (line - font->FontSize))},
                  im_color(context.palette.text_dim), names[row]);
  }
  const ImVec2 max{at.x + room, at.y + 3 * line};
  if (max.x > left) draw_heatmap_plane(list, context.heatmaps, spec, {left, at.y}, max);
  ui_probe("comparison/values", {left, at.y}, max);
  ImGui::Dummy({room, 3 * line});
}

}  // namespace

double LookupViewState::temperature() const {
  return std::pow(10.0, 3.0 * slider - 2.0);
}

void draw_lookup_comparison(const PanelContext& context, const TracePtr& trace, LookupViewState& state) {
  const WidgetContext widgets = context.widgets();
  const Shape& scores = trace->tensors.masked_scores->shape();
  if (scores.size(0) == 0 || scores.size(2) == 0) {
    dim_sentence(widgets, "There is no query for a look-up.");
    return;
  }
  place(context, state);
  state.head = std::clamp<Index>(state.head, 0, scores.size(1) - 1);
  state.query = std::clamp<Index>(state.query, 0, scores.size(2) - 1);
  const Index batch = std::clamp<Index>(context.selection.batch, 0, scores.size(0) - 1);
  const auto query = static_cast<std::size_t>(state.query);
  const std::vector<std::string>& labels = context.inputs.labels.query;
  stepper(widgets, "head", fmt::format("head {}", state.head), state.head, scores.size(1));
  ImGui::SameLine(0.0f, widgets.px(20));
  stepper(widgets, "query",
          fmt::format("query {} {}", query, query < labels.size() ? labels[query] : std::string()),
          state.query, scores.size(2));
  ImGui::SameLine(0.0f, widgets.px(28));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("temperature");
  ImGui::SameLine(0.0f, widgets.px(8));
  slider(widgets, "temperature", state.slider,
         {.least = 0.0, .most = 1.0, .step = 0.025, .normal = 2.0 / 3.0, .width = widgets.px(220)});
  ui_probe_item("comparison/temperature");
  ImGui::SameLine(0.0f, widgets.px(8));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(fmt::format("{:.3g}", state.temperature()).c_str());
  ImGui::Dummy({1, widgets.px(4)});

  update(trace, batch, state);
  draw_weights(context, state);
  ImGui::Dummy({1, widgets.px(6)});
  draw_values(context, state);
  ImGui::Dummy({1, widgets.px(6)});
  TextColumn column(widgets);
  if (state.comparison.possible()) {
    column.paragraph(
        fmt::format("At temperature {:.3g} the winner has {:.1f} % of the weight, and max |soft − hard| is "
                    "{:.3g}.",
                    state.temperature(), 100.0 * state.soft.winner_weight, state.soft.difference));
  }
  for (const std::string& sentence : state.comparison.sentences)
    column.paragraph(sentence, context.palette.text_dim);
}

}  // namespace headwise
