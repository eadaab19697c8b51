#include "app/stage/compare_view.h"

#include <imgui.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/content/cell_terms.h"
#include "app/content/compare_layout.h"
#include "app/platform/fonts.h"
#include "app/session/commands.h"
#include "app/session/other_side.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/one_head_view.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_choice.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/button.h"
#include "app/widgets/color_bar.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/segmented_control.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/tooltip.h"
#include "app/widgets/ui_probe.h"
#include "core/attention/scaled_dot_product_attention.h"
#include "core/picture/number_text.h"
#include "core/trace/why_absent.h"

namespace headwise {
namespace {

constexpr double low_area = 330.0;  // in units: with less than this under the choice, lines give way to the maps

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

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

struct Drawn {
  const char* probe;
  std::string title;
  StagePart part;  // with the matrix of the present map where it has the same cells
  PlaneGeometry plane;
  ComparePlace place;
};

ImVec2 corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y)};
}
ImVec2 far_corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x + p.width), static_cast<float>(p.y + p.height)};
}

// "beside | pinned | one wide head | …   pin this": the line over the maps, and its height.
float draw_choice(const PanelContext& context, PanelAction& action, const RectF& area) {
  // Each says what the other side is; as app/session/other_side.cpp makes them.
  const bool scaled = score_scale(context.trace.options).scale != 1.0,
             masked = context.trace.tensors.mask_bias != nullptr;
  const std::array<std::string_view, compare_with_count> names{"pinned",
                                                               "one wide head",
                                                               "packed",
                                                               "as 3",
                                                               "as 3·H",
                                                               scaled ? "no scale" : "with scale",
                                                               masked ? "no mask" : "causal mask"};
  const std::array<std::string_view, compare_with_count> short_names{
      "pin", "1 head", "W", "3", "3·H", scaled ? "no √D" : "√D", masked ? "no mask" : "causal"};
  ImVec2 at{static_cast<float>(area.x), static_cast<float>(area.y)};
  const float end = at.x + static_cast<float>(area.width), u = context.scale;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* sans = context.fonts.sans;
  const ImVec2 size = segmented_control_size(context.widgets(), names);
  const float y = std::round(at.y + 0.5f * (size.y - sans->FontSize));
  const std::string pin = fmt::format("pin this ({})", first_key_text(CommandId::pin_scenario));
  const float before = width_of(sans, "beside") + 8 * u, behind = width_of(sans, pin) + 36 * u;
  const bool all = before + size.x + behind <= end - at.x;
  if (all) {
    list->AddText(sans, sans->FontSize, {at.x, y}, im_color(context.palette.text_dim), "beside");
    at.x += before;
  }
  ImGui::SetCursorScreenPos(at);
  int chosen = static_cast<int>(context.selection.compare_with);
  const bool fits = size.x <= end - at.x;
  if (stage_choice(context, "beside", fits ? names : short_names, chosen, end - at.x)) {
    action.selection = context.selection;
    action.selection->compare_with = static_cast<CompareWith>(chosen);
  }
  tooltip(context.widgets(),
          "what to compare this scenario with: the pinned one; the same parameters read as one wide head; "
          "in_proj stored as one, 3 or 3·H matrices; without the scale 1/√D; without the mask (or with a "
          "causal one if there is none)");
  const float right = ImGui::GetItemRectMax().x;
  if (right + behind <= end) {
    ImGui::SetCursorScreenPos({right + 14 * u, at.y + std::round(0.5f * (size.y - 26 * u))});
    if (text_button(context.widgets(), "pin", pin)) action.command = CommandId::pin_scenario;
    ui_probe_item("stage/pin");
    tooltip(context.widgets(), "keep this result, to compare it with later ones");
  }
  return size.y;
}

// Wrapped lines; the height that they take, drawn or not.
float draw_sentence(const PanelContext& context, const std::string& text, ImVec2 at, float width, bool draws) {
  if (text.empty()) return 0.0f;
  ImFont* font = context.fonts.sans;
  const std::string lines = with_line_breaks(text, font, width);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, width, lines.c_str());
  if (draws) {
    ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, im_color(context.palette.text),
                                        lines.c_str(), nullptr, width);
    ui_probe("stage/compare/sentence", at, {at.x + size.x, at.y + size.y});
  }
  return size.y + 4.0f * context.scale;
}

// "attn_weights[0,3,8,1]  it → animal   pinned 0.123   now 0.456   difference 0.333"
void draw_values(const PanelContext& context, const std::vector<Drawn>& maps, const RectF& line,
                 std::optional<std::pair<Index, Index>> cell, const StageMatrix& matrix) {
  ImFont* font = context.fonts.mono_small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  float x = static_cast<float>(line.x);
  const float end = static_cast<float>(line.x + line.width), y = static_cast<float>(line.y);
  const auto write = [&](const std::string& text, Rgba8 color, float gap, ImFont* with) {
    if (x >= end) return;
    const std::string fitted = fitted_text(text, with, end - x);
    list->AddText(with, with->FontSize, {std::floor(x), y}, im_color(color), fitted.c_str());
    x += width_of(with, fitted) + gap * context.scale;
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
  for (const Drawn& map : maps) {
    const MatrixView& values = map.part.spec.values;
    const bool has = row < values.rows && col < values.cols;
    write(map.title, context.palette.text_dim, 6, context.fonts.small);
    write(has ? decimal_text(values.value(row, col), 4) : "no such cell", context.palette.text, 18, font);
  }
  ui_probe("stage/compare/values", {static_cast<float>(line.x), y}, {x, y + font->FontSize});
}

// Row and column of the cell under focus, on the maps of this view.
std::optional<std::pair<Index, Index>> focused_place(const PanelContext& context, const CompareState& state,
                                                     const StageMatrix& matrix) {
  if (state.cell) return state.cell;
  const std::optional<CellRef> cell = focused_cell(context.trace, context.selection);
  const auto box = cell ? drawn_box(matrix, box_of(*cell)) : std::nullopt;
  if (!box) return std::nullopt;
  return std::pair(box->row_begin, box->col_begin);
}

}  // namespace

PanelAction draw_compare(const PanelContext& context, CompareState& state, const StageContent& content,
                         ValueRanges& ranges, RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const float u = context.scale;
  const auto use = [&](float height) {
    area.y += height;
    area.height = std::max(0.0, area.height - height);
  };
  use(draw_choice(context, action, area) + 8 * u);
  const StagePart& present = *content.result;
  const OtherSide* side = context.other_side;
  const std::string name = to_string(present.matrix.name);
  const auto say = [&](const std::string& sentence) {
    draw_stage_sentence(context, sentence, area);
    state.cell.reset();
    return action;
  };
  if (!side) return say("computing the other side …");
  if (!side->computation) {
    const bool unpinned = context.selection.compare_with == CompareWith::pinned;
    return say(unpinned ? fmt::format("{}: press {} to keep this result, then change something, or choose "
                                      "above what to compare it with",
                                      side->why, first_key_text(CommandId::pin_scenario))
                        : side->why);
  }
  const Trace& trace = *side->computation->trace;
  if (!trace.tensor(present.matrix.name)) {
    return say(fmt::format("{} has no {}: {}", side->name, name, why_absent(trace, present.matrix.name)));
  }
  Selection there = selection_within(context.selection, trace);
  there.tensor = present.matrix.name.id;
  const StageContent other =
      stage_content(trace, side->computation->inputs.labels, there, context.theme, ranges);
  if (!other.nothing.empty()) return say(side->name + ": " + other.nothing);

  const MatrixView &before = other.result->matrix.view, &after = present.matrix.view;
  const bool alike = before.rows == after.rows && before.cols == after.cols;
  std::vector<Drawn> maps;
  maps.push_back({"stage/other", side->name, *other.result, {}, {}});
  maps.push_back({"stage/result", "now", present, {}, {}});
  const ValueRange range = common_range(context, *other.result, present, trace, ranges);
  for (Drawn& map : maps) map.part.spec.range = range;
  std::string sentence;
  if (alike) {
    const MapDifference& map = map_difference(state.changes, other.result->spec, present.spec);
    Drawn difference{"stage/difference", "difference", present, {}, {}};
    HeatmapSpec& spec = difference.part.spec;
    spec.values = matrix_view(map.values);
    spec.mask.reset();
    if (map.mask) spec.mask = matrix_view(map.mask);
    spec.color_map = ColorMap::blue_orange;
    spec.range = range_of(std::span<const HeatmapSpec>(&spec, 1), true, false);
    maps.push_back(std::move(difference));
    // One cursor: a cell of any of the maps is that cell of the present trace.
    maps[0].part.matrix = present.matrix;
    sentence = change_words(context, state.changes, present, *side);
  } else {
    state.changes.map.reset();
    sentence = fmt::format("{} is {} now and {} {}: shown side by side, without a difference.", name,
                           matrix_sizes(present.matrix), matrix_sizes(other.result->matrix), side->name);
    sentence += output_words(context, state.changes, *side);
  }
  for (const std::string& note : side->notes) sentence += " " + note;
  // The values of a cell stand above the maps, where no notice covers them. In a low stage they take the place of the
  // sentence while a cell is looked at: no line is kept free for them.
  const bool low = area.height < low_area * u;
  const bool values_stand_in = low && focused_place(context, state, present.matrix);
  RectF values_line{area.x, area.y, area.width, 0};
  const float sentence_height =
      draw_sentence(context, sentence, {static_cast<float>(area.x), static_cast<float>(area.y)},
                    static_cast<float>(area.width), !values_stand_in);
  use(sentence_height + 4 * u);
  if (!low) {
    values_line.y = area.y;
    use(22 * u);
  }

  std::vector<CompareShape> shapes;
  for (const Drawn& map : maps) {
    CompareShape shape{map.part.spec.values.rows, map.part.spec.values.cols, 0, 0};
    shape.row_label_width = row_label_width(context, map.part, shape.rows);
    if (map.part.col_labels)
      shape.col_label_width = label_width(context.widgets(), *map.part.col_labels, shape.cols);
    shapes.push_back(shape);
  }
  const CompareLayout layout = compare_layout(shapes, area, u);
  if (layout.places.empty()) return say("make the window larger to see both sides");

  ImDrawList* list = ImGui::GetWindowDrawList();
  std::vector<HeatmapPlane> planes;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    maps[i].place = layout.places[i];
    maps[i].plane = plane_geometry(layout.places[i].map, shapes[i].rows, shapes[i].cols);
    planes.push_back({&maps[i].part.spec, corner(maps[i].plane), far_corner(maps[i].plane)});
  }
  draw_heatmap_planes(list, context.heatmaps, planes);

  const std::vector<StageMark> marks = stage_marks(context.trace, context.selection, context.pointed);
  const std::optional<std::pair<Index, Index>> focus = focused_place(context, state, present.matrix);
  std::optional<std::pair<Index, Index>> hovered;
  std::optional<Index> head;
  for (std::size_t i = 0; i < maps.size(); ++i) {
    const Drawn& map = maps[i];
    const bool linked = alike || i == 1;
    ui_probe(map.probe, corner(map.plane), far_corner(map.plane));
    draw_part_overlay(context, map.part, map.plane, linked ? marks : std::vector<StageMark>{});
    if (!linked && focus && focus->first < map.plane.rows && focus->second < map.plane.cols) {
      const CellBox box{focus->first, focus->first + 1, focus->second, focus->second + 1};
      draw_box_outline(context.widgets(), list, map.plane, box, im_color(context.palette.focus),
                       std::max(2.0f, std::round(2.0f * u)));
    }
    const double end =
        layout.stacked || i + 1 == maps.size() ? area.x + area.width : layout.places[i + 1].map.x - 8 * u;
    const float room = static_cast<float>(end - map.plane.x);
    if (i < 2) {
      draw_part_title(context, i == 0 ? *other.result : present, map.plane, room, map.title + ":");
    } else {
      ImFont* font = context.fonts.mono;
      const float y = static_cast<float>(map.plane.y) - 7.0f * u - font->Ascent;
      list->AddText(font, font->FontSize, {static_cast<float>(map.plane.x), std::floor(y)},
                    im_color(context.palette.text),
                    fitted_text(fmt::format("now − {}", side->name), font, room).c_str());
    }
    if (map.place.row_labels) {
      draw_part_row_labels(context, map.part, map.plane,
                           linked ? marked_row(map.part.matrix, marks) : std::nullopt);
    }
    if (map.place.col_labels) {
      const auto clicked = draw_part_column_labels(
          context, map.part, map.plane, linked ? marks : std::vector<StageMark>{}, map.place.slanted);
      if (clicked) head = clicked;
    }
    if (const auto cell =
            plane_cell_looked_at(context, map.probe, map.plane, focus.value_or(std::pair<Index, Index>())))
      hovered = cell;
  }
  if (hovered && hovered->first < after.rows && hovered->second < after.cols)
    under_mouse = cell_at(present.matrix, hovered->first, hovered->second);
  state.cell = hovered;

  const auto bar = [&](const RectF& rect, const HeatmapSpec& spec, const std::string& caption, double end) {
    if (rect.height <= 0) return;
    draw_color_bar(context.widgets(), list, rect, spec.color_map, context.theme, spec.range, caption,
                   static_cast<float>(end - rect.x));
  };
  const double middle = alike ? layout.difference_bar.x - 8 * u : area.x + area.width;
  const bool heads = head_count(context.trace, present.matrix.name) > 1;
  bar(layout.bar, maps[0].part.spec, fmt::format("{}, both{}", name, heads ? ", all heads" : ""), middle);
  if (alike) bar(layout.difference_bar, maps[2].part.spec, "difference, this map", area.x + area.width);
  if (!low || values_stand_in)
    draw_values(context, maps, values_line, hovered ? hovered : focus, present.matrix);
  if (head) action.selection = looking_at_head(context, *head);
  return action;
}

}  // namespace headwise
