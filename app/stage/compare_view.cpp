#include "app/stage/views.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <imgui.h>

#include "app/content/cell_terms.h"
#include "app/session/commands.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/controls.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/score_scale.h"
#include "core/attention/trace_warnings.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

bool same_view(const MatrixView& a, const MatrixView& b) {
  return a.tensor == b.tensor && a.offset == b.offset && a.rows == b.rows && a.cols == b.cols &&
         a.row_stride == b.row_stride && a.col_stride == b.col_stride;
}

// Cells that both sides block are marked in their difference too.
TensorPtr common_mask(const HeatmapSpec& a, const HeatmapSpec& b) {
  if (!a.mask || !b.mask) return nullptr;
  Tensor mask(Shape{{"rows", a.mask->rows}, {"cols", a.mask->cols}}, DType::f64);
  for (Index row = 0; row < a.mask->rows; ++row) {
    for (Index col = 0; col < a.mask->cols; ++col) {
      const double mark = a.mask->value(row, col);  // ±inf: core/attention/blocked_cells.h
      const bool both = std::isinf(mark) && b.mask->value(row, col) == mark;
      mask.set_flat(row * a.mask->cols + col, both ? mark : 0.0);
    }
  }
  return std::make_shared<const Tensor>(std::move(mask));
}

// Null if the two cannot be compared.
const TensorChange* update(WholeChange& known, const TensorPtr& before, const TensorPtr& after) {
  if (!before || !after || !before->shape().same_sizes(after->shape())) return nullptr;
  if (known.before != before || known.after != after)
    known = {before, after, before == after ? TensorChange{} : tensor_change(before, after)};
  return &known.change;
}

// "max |Δ| = 0.353 (it → animal), ‖Δ‖ is 12 % of ‖pinned‖", "identical in every cell, max |Δ| = 0". `where`:
// the place of the largest.
std::string change_text(const TensorChange& change, const std::string& before, const std::string& where = {}) {
  if (change.changed == 0) return "identical in every cell, max |Δ| = 0";
  std::string text;
  if (change.changed > change.mismatches) {
    text = fmt::format("max |Δ| = {:.3g}", change.largest);
    if (!where.empty()) text += fmt::format(" ({})", where);
    if (const auto share = change.relative())
      text += fmt::format(", ‖Δ‖ is {} of ‖{}‖", percent_text(*share), before);
  }
  if (change.mismatches > 0) {
    if (!text.empty()) text += ", and ";
    text += fmt::format("{} of {} cells {} NaN or infinite on one side only", change.mismatches, change.cells,
                        change.mismatches == 1 ? "is" : "are");
  }
  return text;
}

// "compare with | pinned | one wide head | … pin this": draws the line above the maps, returns its height.
float draw_choice(const PanelContext& context, PanelAction& action, const RectF& area) {
  if (context.picture) return 0.0f;  // the titles of the maps say what is beside what
  const auto [names, short_names] = compare_choices(context.trace);
  ImVec2 at = corner(area);
  const float end = at.x + float(area.width), u = context.scale;
  ImFont* sans = context.fonts.sans;
  const ImVec2 size = segmented_control_size(context, names);
  const float y = std::round(at.y + 0.5f * (size.y - sans->FontSize));
  const std::string pin = fmt::format("pin this ({})", first_key_text(CommandId::pin_scenario));
  const float before = width_of(sans, "compare with") + 8 * u, behind = width_of(sans, pin) + 36 * u;
  const bool all = before + size.x + behind <= end - at.x;
  if (all) {
    context.painter().text(sans, {at.x, y}, context.palette.text_dim, "compare with");
    at.x += before;
  }
  ImGui::SetCursorScreenPos(at);
  int chosen = static_cast<int>(context.selection.compare_with);
  const bool fits = size.x <= end - at.x;
  if (stage_choice(context, "beside", fits ? names : short_names, chosen, end - at.x)) {
    action.selection = context.selection;
    action.selection->compare_with = static_cast<CompareWith>(chosen);
  }
  tooltip(context,
          "what to compare this scenario with: the pinned one; the same parameters read as one wide head; "
          "in_proj stored as one, 3 or 3·H matrices; without the scale 1/√D; without the mask (or with a "
          "causal one if there is none)");
  const float right = ImGui::GetItemRectMax().x;
  if (right + behind <= end) {
    ImGui::SetCursorScreenPos({right + 14 * u, at.y + std::round(0.5f * (size.y - 26 * u))});
    if (text_button(context, "pin", pin)) action.command = CommandId::pin_scenario;
    named_item(context, "stage/pin", "keep this result, to compare it with later ones");
  }
  return size.y;
}

// Why there is no other side to draw; else empty.
std::string target_refusal(const PanelContext& context, TensorName name) {
  const ComparisonTarget* side = context.comparison_target;
  if (!side) return "computing the other side …";
  if (!side->computation) {
    if (context.selection.compare_with != CompareWith::pinned || context.picture) return side->why;
    return fmt::format(
        "{}: press {} to keep this result, then change something, or choose above what to compare it with",
        side->why, first_key_text(CommandId::pin_scenario));
  }
  const Trace& trace = *side->computation->trace;
  if (trace.tensor(name)) return "";
  return fmt::format("{} has no {}: {}", side->name, to_string(name), why_absent(trace, name));
}

constexpr double low_area = 330.0;  // in units: with less than this below the choice, lines give way to the maps

// The range of the maps of all heads, both sides together: the same number has the same colour.
ValueRange common_range(const PanelContext& context, const StagePart& other, const StagePart& present,
                        const Trace& trace, ValueRanges& ranges) {
  const bool probabilities = tensor_entry(present.matrix.name.id).probabilities;
  const auto of = [&](const StagePart& part, Index batch) {
    const TensorPtr mask = part.spec.mask ? part.spec.mask->tensor : nullptr;
    return ranges.of(part.matrix.view.tensor, batch, probabilities, mask, part.spec.blocked_at);
  };
  const Selection there = selection_within(context.selection, trace);
  return joined(of(other, there.batch), of(present, context.selection.batch));
}

// Wrapped lines; returns their height, drawn or not.
float draw_sentence(const PanelContext& context, const std::string& text, ImVec2 at, float width, bool draws) {
  if (text.empty()) return 0.0f;
  ImFont* font = context.fonts.sans;
  if (draws)
    ui_probe("stage/compare/sentence", context.painter().wrapped(width, font, at, context.palette.text, text));
  return size_in(font, width, text).y + 4.0f * context.scale;
}

struct ComparedMap {
  const char* probe;
  std::string title;
  StagePart part;  // with the matrix of the present map if it has the same cells
  PlaneGeometry plane;
  ComparePlace place;
};

// "attn_weights[0,3,8,1]  it → animal   pinned 0.123   now 0.456   difference 0.333"
void draw_values(const PanelContext& context, const std::vector<ComparedMap>& maps, const RectF& line,
                 std::optional<std::pair<Index, Index>> cell, const StageMatrix& matrix) {
  ImFont* font = context.fonts.mono_small;
  float x = float(line.x);
  const float end = float(line.x + line.width), y = float(line.y);
  const auto write = [&](const std::string& text, Rgba8 color, float gap, ImFont* with) {
    if (x >= end) return;
    x = context.painter().text_within(end - x, with, {x, y}, color, text).max.x + gap * context.scale;
  };
  if (!cell) {
    write("Move the mouse over a cell of any map to highlight it in all of them.", context.palette.text_dim,
          0, context.fonts.small);
    return;
  }
  const auto [row, col] = *cell;
  if (row < matrix.view.rows && col < matrix.view.cols) {
    const CellRef present = cell_at(matrix, row, col);
    write(box_text(context.trace, box_of(present)), context.palette.text_dim, 10, font);
    write(cell_tokens(context.trace, context.inputs.labels, present), context.palette.text_dim, 16,
          context.fonts.small);
  } else {
    write(fmt::format("row {}, column {}", row, col), context.palette.text_dim, 16, font);
  }
  for (const ComparedMap& map : maps) {
    const MatrixView& values = map.part.spec.values;
    const bool has = row < values.rows && col < values.cols;
    write(map.title, context.palette.text_dim, 6, context.fonts.small);
    write(has ? decimal_text(values.value(row, col), 4) : "no such cell", context.palette.text, 18, font);
  }
  ui_probe("stage/compare/values", {float(line.x), y}, {x, y + font->FontSize});
}

// Sets `changes.map`. The two must have the same rows and columns.
const MapDifference& map_difference(CompareChanges& changes, const HeatmapSpec& before,
                                    const HeatmapSpec& after) {
  std::optional<MapDifference>& known = changes.map;
  if (known && same_view(known->before, before.values) && same_view(known->after, after.values))
    return *known;
  known = MapDifference{before.values, after.values, difference_of(before.values, after.values),
                        common_mask(before, after), tensor_change(before.values, after.values)};
  return *known;
}

// " The output: max |Δ| = …." alone; empty where the outputs cannot be compared. Here and above, `side` must
// have a computation.
std::string output_words(const PanelContext& context, CompareChanges& changes, const ComparisonTarget& side) {
  const TensorPtr& other = side.computation->trace->tensors.output;
  const TensorChange* output = update(changes.output, other, context.trace.tensors.output);
  return output ? fmt::format(" The output: {}.", change_text(*output, side.name)) : "";
}

// What the numbers say about the map in `changes`, which belongs to `part`, about all heads,
// and about the output.
std::string change_words(const PanelContext& context, CompareChanges& changes, const StagePart& part,
                         const ComparisonTarget& side) {
  const StageMatrix& matrix = part.matrix;
  // A pair of tokens says where a cell is.
  const bool named = part.row_labels && part.col_labels && matrix.row_axis != "H";
  const Trace& other = *side.computation->trace;
  const TensorChange& map = changes.map->change;
  std::string where;
  if (map.row >= 0)
    where = named ? cell_tokens(context.trace, context.inputs.labels, cell_at(matrix, map.row, map.col))
                  : fmt::format("row {}, column {}", map.row, map.col);
  std::string text = fmt::format("This map: {}.", change_text(map, side.name, where));
  if (head_count(context.trace, matrix.name) > 1) {
    const TensorChange* all =
        update(changes.all_heads, other.tensor(matrix.name), context.trace.tensor(matrix.name));
    if (all) text += fmt::format(" All heads: {}.", change_text(*all, side.name));
  }
  if (matrix.name.id != TensorId::output) text += output_words(context, changes, side);
  return text;
}

// Where its name has no room: "no mask" for "without a mask", "scale 0.25" for "with the scale 0.25".
std::string brief_name(const std::string& name) {
  constexpr std::pair<std::string_view, std::string_view> shorter[] = {
      {"without the ", "no "}, {"without a ", "no "}, {"with the ", ""}};
  for (const auto& [beginning, brief] : shorter)
    if (name.starts_with(beginning)) return std::string(brief) + name.substr(beginning.size());
  return name;
}

// The other side's map, the present one and, where both have the same shape, their difference.
class CompareMaps {
 public:
  CompareMaps(const PanelContext& context, CompareState& state, const StagePart& present,
              const StagePart& other, ValueRanges& ranges)
      : context_(context), state_(state), present_(present), other_(other) {
    maps_.push_back({"stage/other", side_.name, other, {}, {}});
    maps_.push_back({"stage/result", "now", present, {}, {}});
    const ValueRange range = common_range(context, other, present, *side_.computation->trace, ranges);
    for (ComparedMap& map : maps_) map.part.spec.range = range;
    if (alike_) {
      add_difference();
    } else {
      state.changes.map.reset();
    }
  }

  // Draws the sentence on the numbers and returns the area below it.
  RectF draw_words(RectF area) {
    std::string sentence;
    if (alike_) {
      sentence = change_words(context_, state_.changes, present_, side_);
    } else {
      sentence = fmt::format("{} is {} now and {} {}: shown side by side, without a difference.", name_,
                             matrix_sizes(present_.matrix), matrix_sizes(other_.matrix), side_.name);
      sentence += output_words(context_, state_.changes, side_);
    }
    for (const std::string& note : side_.notes) sentence += " " + note;
    // The values of a cell appear above the maps, where no notice covers them. In a low stage they replace
    // the sentence while a cell is focused: no line is reserved for them.
    const float u = context_.scale;
    const bool low = area.height < low_area * u, values_stand_in = low && focus_;
    const bool no_values = low || (context_.picture && !focus_);  // a picture has no mouse to ask for
    if (values_stand_in) values_line_ = RectF{area.x, area.y, area.width, 0};
    const float height = draw_sentence(context_, sentence, corner(area), float(area.width), !values_stand_in);
    area = without_top(area, height + 4 * u);
    if (no_values) return area;
    values_line_ = RectF{area.x, area.y, area.width, 0};
    return without_top(area, 22 * u);
  }

  // Places the maps; returns false if they do not fit.
  bool place(const RectF& area) {
    std::vector<LabelledShape> shapes;
    for (const ComparedMap& map : maps_) shapes.push_back(labelled_shape(context_, map.part));
    area_ = area;
    layout_ = compare_layout(shapes, area, context_.scale);
    if (layout_.places.empty()) return false;
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      maps_[i].place = layout_.places[i];
      maps_[i].plane = plane_geometry(layout_.places[i].map, shapes[i].rows, shapes[i].cols);
    }
    return true;
  }

  // Draws the maps; returns the head whose number was clicked.
  std::optional<Index> draw(std::optional<CellRef>& under_mouse) {
    draw_planes();
    Place hovered;
    std::optional<Index> head;
    for (std::size_t i = 0; i < maps_.size(); ++i)
      if (const auto clicked = draw_map(i, hovered)) head = clicked;
    const MatrixView& present = present_.matrix.view;
    if (hovered && hovered->first < present.rows && hovered->second < present.cols)
      under_mouse = cell_at(present_.matrix, hovered->first, hovered->second);
    state_.cell = hovered;
    draw_bars();
    if (values_line_)
      draw_values(context_, maps_, *values_line_, hovered ? hovered : focus_, present_.matrix);
    return head;
  }

 private:
  using Place = std::optional<std::pair<Index, Index>>;  // row and column

  // The cell under focus, on the maps of this view.
  Place focused_place() const {
    if (state_.cell) return state_.cell;
    const std::optional<CellRef> cell = focused_cell(context_.trace, context_.selection);
    const auto box = cell ? drawn_box(present_.matrix, box_of(*cell)) : std::nullopt;
    if (!box) return std::nullopt;
    return std::pair(box->row_begin, box->col_begin);
  }

  void add_difference() {
    const MapDifference& map = map_difference(state_.changes, other_.spec, present_.spec);
    ComparedMap difference{"stage/difference", "difference", present_, {}, {}};
    HeatmapSpec& spec = difference.part.spec;
    spec.values = matrix_view(map.values);
    spec.mask.reset();
    if (map.mask) spec.mask = matrix_view(map.mask);
    spec.color_map = ColorMap::blue_orange;
    spec.range = range_of(std::span<const HeatmapSpec>(&spec, 1), true, false);
    maps_.push_back(std::move(difference));
    // One cursor: a cell of any map stands for that cell of the present trace.
    maps_[0].part.matrix = present_.matrix;
  }

  void draw_planes() const {
    std::vector<HeatmapPlane> planes;
    for (const ComparedMap& map : maps_)
      planes.push_back({&map.part.spec, corner(map.plane), far_corner(map.plane)});
    draw_heatmap_planes(ImGui::GetWindowDrawList(), context_.heatmaps, planes);
  }

  void draw_title(std::size_t i) const {
    const ComparedMap& map = maps_[i];
    const float u = context_.scale;
    const bool last = layout_.stacked || i + 1 == maps_.size();
    const double end = last ? area_.x + area_.width : layout_.places[i + 1].map.x - 8 * u;
    const float room = float(end - map.plane.x);
    ImFont* font = context_.fonts.mono;
    const std::string brief = brief_name(map.title);
    std::vector<std::string> words{map.title, brief};  // no word of them is cut while one of them fits
    if (i < 2) {
      const StagePart& part = i == 0 ? other_ : present_;
      const float tensor = width_of(context_.presentation ? font : context_.fonts.mono_small, name_) + 6 * u;
      for (const std::string& side : words)
        if (width_of(font, side + ":") + tensor <= room)
          return draw_part_title(context_, part, map.plane, room, side + ":");
      // The tensor is named below the maps.
    } else {
      words = {"now − " + side_.name, "now − " + brief_name(side_.name), map.title};
    }
    const auto fits = [&](const std::string& text) { return width_of(font, text) <= room; };
    const auto fitting = std::ranges::find_if(words, fits);
    const float y = float(map.plane.y) - 7.0f * u - font->Ascent;
    context_.painter().say(font, {corner(map.plane).x, y}, context_.palette.text,
                           fitting == words.end() ? fitted_text(words.back(), font, room) : *fitting);
  }

  // Draws what is on and around a map. `hovered` receives the focused cell;
  // returns the head whose number was clicked.
  std::optional<Index> draw_map(std::size_t i, Place& hovered) const {
    const ComparedMap& map = maps_[i];
    const std::vector<StageMark> marks = linked(i) ? marks_ : std::vector<StageMark>{};
    ui_probe(map.probe, map.plane);
    draw_part_overlay(context_, map.part, map.plane, marks);
    if (!linked(i) && focus_ && focus_->first < map.plane.rows && focus_->second < map.plane.cols) {
      const CellBox box{focus_->first, focus_->first + 1, focus_->second, focus_->second + 1};
      draw_box_outline(context_.painter(), map.plane, box, im_color(context_.palette.focus),
                       std::max(2.0f, std::round(2.0f * context_.scale)));
    }
    draw_title(i);
    if (map.place.row_labels)
      draw_part_row_labels(context_, map.part, map.plane, marked_row(map.part.matrix, marks));
    std::optional<Index> head;
    if (map.place.col_labels)
      head = draw_part_column_labels(context_, map.part, map.plane, marks, map.place.slanted);
    const auto first = focus_.value_or(std::pair<Index, Index>());
    if (const auto cell = pointed_plane_cell(context_, map.probe, map.plane, first)) hovered = cell;
    return head;
  }

  void draw_bars() const {
    const double right = area_.x + area_.width;
    const double middle = alike_ ? layout_.difference_bar.x - 8 * context_.scale : right;
    const HeatmapSpec* const specs[] = {&maps_[0].part.spec, &maps_[1].part.spec};
    state_.legend.update(specs);
    bool explained = false;  // beside the first bar that has room for it
    const auto bar = [&](const RectF& rect, const HeatmapSpec& spec, const std::string& caption, double end) {
      if (rect.height <= 0) return;
      const float words_end = draw_color_bar(context_.painter(), rect, spec.color_map, context_.theme,
                                             spec.range, caption, float(end - rect.x));
      explained = explained || draw_legend_beside(context_, state_.legend, rect, words_end, float(end));
    };
    const bool heads = head_count(context_.trace, present_.matrix.name) > 1;
    bar(layout_.bar, maps_[0].part.spec, fmt::format("{}, both{}", name_, heads ? ", all heads" : ""), middle);
    if (alike_) bar(layout_.difference_bar, maps_[2].part.spec, "difference, this map", right);
  }

  // Whether a cell of map `i` corresponds to a cell of the present trace.
  bool linked(std::size_t i) const { return alike_ || i == 1; }

  const PanelContext& context_;
  CompareState& state_;
  const StagePart& present_;
  const StagePart& other_;
  const ComparisonTarget& side_ = *context_.comparison_target;
  const std::string name_ = to_string(present_.matrix.name);
  const bool alike_ = other_.matrix.view.rows == present_.matrix.view.rows &&
                      other_.matrix.view.cols == present_.matrix.view.cols;
  std::vector<ComparedMap> maps_;
  const std::vector<StageMark> marks_ = stage_marks(context_.trace, context_.selection, context_.pointed);
  const Place focus_ = focused_place();
  RectF area_;
  std::optional<RectF> values_line_;  // none where the sentence takes its place
  CompareLayout layout_;
};

}  // namespace

// Each describes the other side, as app/session/comparison_target.cpp computes it.
CompareChoices compare_choices(const Trace& trace) {
  const bool scaled = attention_scale(trace.options) != 1.0, masked = trace.tensors.mask_bias != nullptr;
  return {{"pinned", "one wide head", "packed", "as 3", "as 3·H", scaled ? "no scale" : "with scale",
           masked ? "no mask" : "causal mask"},
          {"pin", "1 head", "W", "3", "3·H", scaled ? "no √D" : "√D", masked ? "no mask" : "causal"}};
}

PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  area = without_top(area, draw_choice(context, action, area) + 8 * context.scale);
  const StagePart& present = *content.result;
  const auto say = [&](const std::string& sentence) {
    draw_stage_sentence(context, sentence, area);
    state.cell.reset();
    return action;
  };
  if (const std::string why = target_refusal(context, present.matrix.name); !why.empty()) return say(why);
  const ComparisonTarget& side = *context.comparison_target;
  const Trace& trace = *side.computation->trace;
  Selection there = selection_within(context.selection, trace);
  there.tensor = present.matrix.name.id;
  const StageContent other =
      stage_content(trace, side.computation->inputs.labels, there, context.theme, ranges);
  if (!other.nothing.empty()) return say(side.name + ": " + other.nothing);

  CompareMaps maps(context, state, present, *other.result, ranges);
  area = maps.draw_words(area);
  if (!maps.place(area)) return say("make the window larger to see both sides");
  if (const auto head = maps.draw(under_mouse)) action.selection = looking_at_head(context, *head);
  return action;
}

RectF without_top(const RectF& area, double height) {
  return {area.x, area.y + height, area.width, std::max(0.0, area.height - height)};
}

}  // namespace headwise
