#include "app/panels/comparison_sheet.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/stage_matrix.h"
#include "app/panels/panel_frame.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/labelled_field.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"
#include "core/compare/trace_compare.h"
#include "core/export/number_text.h"
#include "core/lessons/operation_counts.h"

namespace headwise {
namespace {

// Figures in columns: names left-aligned, numbers right-aligned in mono.
struct FigureColumn {
  std::string_view name;  // dim, above the column
  bool number = false;
};

// One text per column; `share` ≥ 0 draws a bar after the last column,
// filling that fraction of the remaining space.
struct FigureRow {
  std::vector<std::string> cells;
  double share = -1.0;
  bool dim = false;
};

constexpr float column_gap = 22.0f;  // design units
constexpr float longest_bar = 120.0f;

// At the cursor of the current ImGui window, across its whole width; moves the cursor below. What does not
// fit into the widest column of names is cut with "…". `probe`: tests find row i as "probe/i".
void draw_figures(const WidgetContext& context, const char* probe, std::span<const FigureColumn> columns,
                  std::span<const FigureRow> rows) {
  ImFont* small = context.fonts.small;
  const Painter paint = context.painter();
  const float room = ImGui::GetContentRegionAvail().x, gap = context.px(column_gap);
  const float line = std::round(small->FontSize * 1.6f);
  const auto font_of = [&](std::size_t column) {
    return columns[column].number ? context.fonts.mono_small : small;
  };

  std::vector<float> widths;
  float sum = 0.0f;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    float width = width_of(small, columns[c].name);
    for (const FigureRow& row : rows) width = std::max(width, width_of(font_of(c), row.cells[c]));
    widths.push_back(std::ceil(width));
    sum += widths.back() + gap;
  }
  // Too wide: the widest column of names gives way.
  std::size_t widest = 0;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (!columns[c].number && (columns[widest].number || widths[c] > widths[widest])) widest = c;
  if (sum - gap > room) widths[widest] = std::max(context.px(30), widths[widest] - (sum - gap - room));

  const auto draw_cell = [&](ImFont* font, std::size_t c, float x, float y, const std::string& text,
                             Rgba8 color) {
    const std::string fitted = fitted_text(text, font, widths[c]);
    const float at = columns[c].number ? x + widths[c] - width_of(font, fitted) : x;
    paint.text(font, {at, std::round(y + 0.5f * (line - font->FontSize))}, color, fitted);
  };
  const auto skip = [&] {
    const ImVec2 spacing = ImGui::GetStyle().ItemSpacing;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(spacing.x, 0.0f));
    ImGui::Dummy({room, line});
    ImGui::PopStyleVar();
  };
  ImVec2 at = ImGui::GetCursorScreenPos();
  float x = at.x;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    draw_cell(small, c, x, at.y, std::string(columns[c].name), context.palette.text_dim);
    x += widths[c] + gap;
  }
  skip();
  paint.line({at.x, at.y + line - 1}, {at.x + room, at.y + line - 1}, context.palette.border);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const FigureRow& row = rows[r];
    at = ImGui::GetCursorScreenPos();
    x = at.x;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      draw_cell(font_of(c), c, x, at.y, row.cells[c],
                row.dim ? context.palette.text_dim : context.palette.text);
      // "attn_weights, largest: 0.95"
      ui_text_probe(row.cells[0] + ", " + std::string(columns[c].name) + ": " + row.cells[c], {x, at.y});
      x += widths[c] + gap;
    }
    const float bar = std::min(context.px(longest_bar), at.x + room - x);
    if (row.share > 0.0 && bar > context.px(20)) {
      const float length = std::max(1.0f, bar * float(std::min(row.share, 1.0)));
      paint.fill({x, at.y + line * 0.28f}, {x + length, at.y + line * 0.72f}, context.palette.bar);
    }
    ui_probe(probe, static_cast<int>(r), at, {at.x + room, at.y + line});
    skip();
  }
}

// Design units. All tabs have the same height, so that the tab bar stays where it is.
constexpr float comparison_sheet_width = 900.0f, sheet_height = 688.0f;

constexpr std::string_view questions[] = {
    "One packed in_proj_weight, three linear layers, or a small matrix for each head: are they the same?",
    "Many narrow heads, or one head over the whole width: are they the same?",
    "A dictionary returns the value of one key. What does attention return?"};

constexpr std::array<FigureColumn, 6> numbers{{{"layout"},
                                               {"matrices"},
                                               {"products", true},
                                               {"of in_proj", true},
                                               {"multiply-adds", true},
                                               {"max |Δ| of the output", true}}};

constexpr std::array<FigureColumn, 2> einsums{{{"layout"}, {"einsum"}}};

constexpr std::array<FigureColumn, 6> sides{{{"heads"},
                                             {"scale", true},
                                             {"parameters", true},
                                             {"multiply-adds", true},
                                             {"exponentials", true},
                                             {"einsum of the scores"}}};

constexpr std::array<FigureColumn, 3> distances{{{"tensor"}, {"max |Δ|", true}, {"largest", true}}};

FigureRow side(const HeadsCase& heads) {
  return {{fmt::format("{} of {}", heads.heads, heads.head_dim), fmt::format("{:.4g}", heads.scale),
           count_text(heads.parameters), count_text(heads.counts.multiply_adds),
           count_text(heads.counts.exponentials), heads.scores_einsum}};
}

FigureRow distance(const std::string& name, double difference, double magnitude) {
  const double share = magnitude > 0.0 && std::isfinite(difference) ? difference / magnitude : 0.0;
  return {{name, fmt::format("{:.3g}", difference), fmt::format("{:.3g}", magnitude)}, share};
}

// The stage's colour range for these maps: from 0 to the largest weight of all heads.
ValueRange range_of_maps(const TensorPtr& weights, Index batch) {
  std::vector<MatrixView> maps;
  for (Index head = 0; head < weights->shape().size(1); ++head)
    maps.push_back(matrix_view(weights, std::array<Index, 2>{batch, head}));
  return range_of(maps, false, true);
}

// "attn_weights of head 3, colours 0 … 0.95"
std::string with_colours(const std::string& name, const TensorPtr& weights, Index batch) {
  return fmt::format("{}, colours 0 … {:.3g}", name, range_of_maps(weights, batch).hi);
}

// One attention map with its caption above; `width` in pixels,
// as high as its rows need but no higher than wide.
void draw_map(const PanelContext& context, int number, const TensorPtr& weights, Index batch, Index head,
              float width, const std::string& caption) {
  ImFont* font = context.fonts.small;
  const Painter paint = context.painter();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint.say(font, at, context.palette.text_dim, caption);
  HeatmapSpec spec;
  const std::array<Index, 2> leading{batch, head};
  spec.values = matrix_view(weights, leading);
  spec.color_map = ColorMap::viridis;
  spec.range = range_of_maps(weights, batch);
  spec.theme = context.theme;
  const float top = at.y + std::round(font->FontSize * 1.5f);
  const ImVec2 max{at.x + width, top + width};
  if (spec.values.rows > 0 && spec.values.cols > 0)
    draw_heatmap_plane(paint.list, context.heatmaps, spec, {at.x, top}, max);
  ui_probe("comparison/map", number, {at.x, top}, max);
  ImGui::Dummy({width, max.y - at.y});
}

void draw_maps(const PanelContext& context, const HeadWidthComparison& c) {
  const TensorPtr& many = c.many.trace->tensors.attn_weights;
  const Index head = std::clamp<Index>(context.selection.head, 0, c.many.heads - 1);
  const Index batch = context.selection.batch;
  if (many->shape().size(0) == 0) return;
  const float room = ImGui::GetContentRegionAvail().x, gap = context.px(16);
  const float width = std::floor(std::min(context.px(190), 0.5f * (room - gap)));
  if (width < context.px(40)) return;
  ImGui::BeginGroup();
  draw_map(context, 0, many, batch, head, width, with_colours(fmt::format("head {}", head), many, batch));
  ImGui::EndGroup();
  ImGui::SameLine(0.0f, gap);
  ImGui::BeginGroup();
  const TensorPtr& wide = c.wide.trace->tensors.attn_weights;
  draw_map(context, 1, wide, batch, 0, width, with_colours("one wide head", wide, batch));
  ImGui::EndGroup();
  TextColumn column(context);
  column.space(4);
  column.paragraph(
      fmt::format("max |Δ| between the two: {:.3g}", c.map_differences[static_cast<std::size_t>(head)]),
      context.palette.text_dim);
}

constexpr std::size_t most_keys = 12;

constexpr std::array<FigureColumn, 5> columns{
    {{"key"}, {"masked score", true}, {"hard", true}, {"soft, at 1", true}, {"at this temperature", true}}};

// The selected head, and the query of the focused cell; without one the last query, which sees every key
// under a causal mask too.
void place(const PanelContext& context, LookupViewState& state) {
  if (state.placed) return;
  state.placed = true;
  state.head = context.selection.head;
  state.query = context.trace.tensors.masked_scores->shape().size(2) - 1;
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  const TensorPtr tensor = cell ? context.trace.tensor(cell->tensor) : nullptr;
  for (Index axis = 0; tensor && axis < tensor->shape().rank(); ++axis)
    if (tensor->shape().name(axis) == "L") state.query = cell->index[static_cast<std::size_t>(axis)];
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
  draw_figures(context, "comparison/keys", columns, rows);
  if (c.scores.size() > most_keys)
    dim_text(context, fmt::format("… and {} more keys with less weight", c.scores.size() - most_keys));
}

// The three rows of values as cells, with one range.
void draw_values(const PanelContext& context, const LookupViewState& state) {
  if (!state.values || state.values->size() == 0) return;
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = ImGui::GetContentRegionAvail().x, line = std::round(font->FontSize * 1.5f);
  const float left = at.x + paint.px(92);
  HeatmapSpec spec;
  spec.values = matrix_view(state.values);
  spec.range = range_of({&spec.values, 1}, true, false);
  spec.theme = context.theme;
  constexpr const char* names[] = {"soft value", "hard value", "soft − hard"};
  for (int row = 0; row < 3; ++row) {
    const float y = at.y + line * float(row);
    paint.text(font, {at.x, std::round(y + 0.5f * (line - font->FontSize))}, context.palette.text_dim,
               names[row]);
  }
  const ImVec2 max{at.x + room, at.y + 3 * line};
  if (max.x > left) draw_heatmap_plane(paint.list, context.heatmaps, spec, {left, at.y}, max);
  ui_probe("comparison/values", {left, at.y}, max);
  ImGui::Dummy({room, 3 * line});
}

// The tabs' contents, at the cursor of the current ImGui window.
void draw_layout_comparison(const PanelContext& context, const LayoutComparison& comparison) {
  if (comparison.not_asked.empty()) {
    std::vector<FigureRow> rows, forms;
    bool first = true;
    for (const LayoutAnswer& answer : comparison.layouts) {
      if (!answer.possible()) {
        rows.push_back({{layout_words(answer.layout), "not possible here", "", "", "", ""}, -1.0, true});
        continue;
      }
      rows.push_back({{layout_words(answer.layout), matrices_text(answer), count_text(answer.products),
                       count_text(answer.parameters()), count_text(answer.multiply_adds),
                       first ? "–" : fmt::format("{:.2g}", answer.output_difference)}});
      forms.push_back({{layout_words(answer.layout), answer.einsum}});
      first = false;
    }
    draw_figures(context, "comparison/layouts", numbers, rows);
    ImGui::Dummy({1, context.px(8)});
    draw_figures(context, "comparison/einsums", einsums, forms);
    ImGui::Dummy({1, context.px(8)});
  }
  TextColumn column(context);
  for (const std::string& sentence : comparison.sentences) column.paragraph(sentence);
  if (comparison.not_asked.empty()) {
    column.space(6);
    column.paragraph(
        "Choose another layout next to “in_proj as” in the setup: names and shapes change, but no number "
        "does.",
        context.palette.text_dim);
  }
}

void draw_head_width_comparison(const PanelContext& context, const HeadWidthComparison& c) {
  if (c.possible()) {
    const std::array rows{side(c.many), side(c.wide)};
    draw_figures(context, "comparison/heads", sides, rows);
    ImGui::Dummy({1, context.px(8)});
    ImGui::BeginTable("differences", 2, ImGuiTableFlags_SizingStretchSame);
    ImGui::TableNextColumn();
    std::vector<FigureRow> all{distance("output", c.output.difference, c.output.magnitude)};
    all.push_back(distance("attn_weights", *std::ranges::max_element(c.map_differences),
                           largest_magnitude(*c.many.trace->tensors.attn_weights)));
    for (const TensorDistance& gradient : c.gradients)
      all.push_back(distance("grad." + std::string(tensor_entry(gradient.tensor).name), gradient.difference,
                             gradient.magnitude));
    draw_figures(context, "comparison/differences", distances, all);
    ImGui::TableNextColumn();
    draw_maps(context, c);
    ImGui::EndTable();
    ImGui::Dummy({1, context.px(6)});
  }
  TextColumn column(context);
  for (const std::string& sentence : c.sentences) column.paragraph(sentence);
}

void draw_lookup_comparison(const PanelContext& context, const TracePtr& trace, LookupViewState& state) {
  const Shape& scores = trace->tensors.masked_scores->shape();
  if (scores.size(0) == 0 || scores.size(2) == 0) {
    dim_sentence(context, "There is no query for a look-up.");
    return;
  }
  place(context, state);
  state.head = std::clamp<Index>(state.head, 0, scores.size(1) - 1);
  state.query = std::clamp<Index>(state.query, 0, scores.size(2) - 1);
  const Index batch = std::clamp<Index>(context.selection.batch, 0, scores.size(0) - 1);
  const auto query = static_cast<std::size_t>(state.query);
  const std::vector<std::string>& labels = context.inputs.labels.query;
  stepper(context, "head", fmt::format("head {}", state.head), state.head, scores.size(1));
  ImGui::SameLine(0.0f, context.px(20));
  stepper(context, "query",
          fmt::format("query {} {}", query, query < labels.size() ? labels[query] : std::string()),
          state.query, scores.size(2));
  ImGui::SameLine(0.0f, context.px(28));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("temperature");
  ImGui::SameLine(0.0f, context.px(8));
  slider(context, "temperature", state.slider,
         {.least = 0.0, .most = 1.0, .step = 0.025, .normal = 2.0 / 3.0, .width = context.px(220)});
  ui_probe_item("comparison/temperature");
  ImGui::SameLine(0.0f, context.px(8));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(fmt::format("{:.3g}", state.temperature()).c_str());
  ImGui::Dummy({1, context.px(4)});

  update(trace, batch, state);
  draw_weights(context, state);
  ImGui::Dummy({1, context.px(6)});
  draw_values(context, state);
  ImGui::Dummy({1, context.px(6)});
  TextColumn column(context);
  if (state.comparison.possible())
    column.paragraph(
        fmt::format("At temperature {:.3g} the winner has {:.1f} % of the weight, and max |soft − hard| is "
                    "{:.3g}.",
                    state.temperature(), 100.0 * state.soft.winner_weight, state.soft.difference));
  for (const std::string& sentence : state.comparison.sentences)
    column.paragraph(sentence, context.palette.text_dim);
}

}  // namespace

void draw_comparison_sheet(const PanelContext& context, const TracePtr& trace, Comparisons& comparisons,
                           ComparisonSheetState& state) {
  if (!state.open) state.lookup.placed = false;
  if (!begin_overlay(context, "overlay/comparison", "Is it the same?", state.open,
                     {.width = comparison_sheet_width}))
    return;
  ImGui::PushFont(context.fonts.small);
  work_probe("comparisons");
  segmented_control(context, "tabs", comparison_tabs, state.tab);
  const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
  float left = min.x;
  for (std::size_t i = 0; i < comparison_tabs.size(); ++i) {
    const std::span<const std::string_view> until(comparison_tabs.data(), i + 1);
    const float right = min.x + segmented_control_size(context, until).x;
    ui_probe("comparison/tab", static_cast<int>(i), {left, min.y}, {right, max.y});
    left = right;
  }
  ImGui::Dummy({1, context.px(2)});
  dim_sentence(context, questions[state.tab]);
  ImGui::Dummy({1, context.px(4)});
  if (context.hides_heads()) {
    dim_sentence(context, context.hidden_heads_words());
    ui_probe_item("comparison/hidden");
  } else if (state.tab == 2) {
    draw_lookup_comparison(context, trace, state.lookup);
  } else if (const auto computed = comparisons.of(trace); !computed) {
    dim_sentence(context, "Computing both sides, forward and backward …" + comparisons.waiting().text());
    if (context.wake_after) *context.wake_after = std::min(*context.wake_after, seconds_between_words);
    ui_probe_item("comparison/computing");
  } else if (!computed->error.empty()) {
    error_line(context, computed->error);
  } else if (state.tab == 0) {
    draw_layout_comparison(context, computed->layouts);
  } else {
    draw_head_width_comparison(context, computed->head_width);
  }
  const float spare = ImGui::GetWindowPos().y +
                      std::min(context.px(sheet_height), ImGui::GetIO().DisplaySize.y) -
                      ImGui::GetCursorScreenPos().y - context.px(50);
  if (spare > 0.0f) ImGui::Dummy({1, spare});
  ImGui::PopFont();
  end_overlay();
}

double LookupViewState::temperature() const {
  return std::pow(10.0, 3.0 * slider - 2.0);
}

}  // namespace headwise
