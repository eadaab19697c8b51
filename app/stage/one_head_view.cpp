#include "app/stage/one_head_view.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/session/frozen_heads.h"
#include "app/stage/head_thumbnails.h"
#include "app/stage/softmax_drawing.h"
#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/stage/stage_motion.h"
#include "app/stage/thumbnail_marks.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/color_bar.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/lock_mark.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

constexpr double smallest_result_units = 56.0;  // height of the result that is still worth its thumbnails

ImVec2 corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x), static_cast<float>(p.y)};
}
ImVec2 far_corner(const PlaneGeometry& p) {
  return {static_cast<float>(p.x + p.width), static_cast<float>(p.y + p.height)};
}

float width_of(ImFont* font, const std::string& text) {
  return font->CalcTextSizeA(font->FontSize, FLT_MAX, 0.0f, text.c_str()).x;
}

PlaneGeometry geometry(const RectF& rect, const StagePart& part) {
  return plane_geometry(rect, part.matrix.view.rows, part.matrix.view.cols);
}

// Whether a colour bar is of nothing but the thumbnails.
bool is_of_thumbnails(const StageContent& content, std::size_t bar) {
  if (!content.head_map || content.head_map->bar != bar) return false;
  const auto parts = parts_of(content);
  return std::ranges::none_of(parts, [&](const StagePart* part) { return part->bar == bar; });
}

// Thumbnails that share the bar of a larger map say themselves that their colours are their own.
std::string bar_caption(const PanelContext& context, const StageContent& content, std::size_t bar) {
  return context.selection.colors_by_head && is_of_thumbnails(content, bar)
             ? own_colors_caption(*content.head_map)
             : content.bars[bar].caption;
}

StageShape shape_of(const PanelContext& context, const StageContent& content, const RectF& area) {
  const WidgetContext widgets = context.widgets();
  StageShape shape;
  const StagePart& result = *content.result;
  shape.rows = result.matrix.view.rows;
  shape.cols = result.matrix.view.cols;
  if (content.left) shape.left_cols = content.left->matrix.view.cols;
  if (content.above) shape.above_rows = content.above->matrix.view.rows;
  shape.cell_for_cell = content.cell_for_cell;
  shape.bias_row = content.bias.has_value();
  if (content.row_figures) shape.row_figures = softmax_figure_count(context, shape.rows, area.height);
  if (content.col_figures) shape.col_figures = softmax_figure_count(context, shape.cols, 0.6 * area.width);
  shape.heads = content.head_map ? content.head_total : 0;
  shape.sign_width = content.sign.empty() ? 0.0 : width_of(context.fonts.small, content.sign);
  const bool probabilities = tensor_entry(result.matrix.name.id).probabilities;
  const ImVec2 digits = least_digit_cell(widgets, result.spec, probabilities);
  shape.digit_width = digits.x;
  shape.digit_height = digits.y;
  for (std::size_t i = 0; i < content.bars.size(); ++i)
    shape.bar_captions.push_back(width_of(context.fonts.small, bar_caption(context, content, i)));
  const StagePart& first = content.left ? *content.left : result;
  shape.row_label_width = row_label_width(context, first, shape.rows);
  if (result.col_labels) shape.col_label_width = label_width(widgets, *result.col_labels, shape.cols);
  if (content.left && content.left->col_labels) {
    shape.left_col_label_width = label_width(widgets, *content.left->col_labels, *shape.left_cols);
  }
  if (content.above && content.above->row_labels && !content.cell_for_cell) {
    shape.above_label_width = label_width(widgets, *content.above->row_labels, *shape.above_rows);
  }
  return shape;
}

// The row maximum and Σ exp of the softmax, kept until another head is shown.
void draw_figures(const PanelContext& context, OneHeadState& state, const StageContent& content,
                  const StageLayout& layout) {
  const MatrixView& scores = content.left->matrix.view;
  if (state.figures_of.lock() != scores.tensor || state.figures_offset != scores.offset) {
    state.figures = softmax_figures(content.col_figures ? scores.transposed() : scores);
    state.figures_of = scores.tensor;
    state.figures_offset = scores.offset;
  }
  draw_softmax_figures(context, state.figures, *content.left, layout);
}

// What makes the result of the left operand, with an arrow under it, in the gap between them.
void draw_sign(const PanelContext& context, const std::string& sign, const RectF& left, double gap_end) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = context.fonts.small;
  const float u = context.scale;
  const float middle = static_cast<float>((left.x + left.width + gap_end) / 2);
  const float y = static_cast<float>(left.y + left.height / 2);
  const ImU32 color = im_color(context.palette.text_dim);
  list->AddText(font, font->FontSize,
                ImVec2(std::floor(middle - width_of(font, sign) / 2), y - font->FontSize - 4 * u), color,
                sign.c_str());
  const float half = 9.0f * u;
  list->AddLine(ImVec2(middle - half, y + 2 * u), ImVec2(middle + half, y + 2 * u), color, u);
  list->AddLine(ImVec2(middle + half - 4 * u, y - 2 * u), ImVec2(middle + half, y + 2 * u), color, u);
  list->AddLine(ImVec2(middle + half - 4 * u, y + 6 * u), ImVec2(middle + half, y + 2 * u), color, u);
}

// Behind the colour bars: what is hatched, crossed or has a minus, where the result has such cells.
void draw_legend(const PanelContext& context, OneHeadState& state, const StageContent& content,
                 const StageLayout& layout, float right) {
  if (layout.bars.empty()) return;
  const HeatmapSpec& spec = content.result->spec;
  if (state.legend_of.lock() != spec.values.tensor || state.legend_offset != spec.values.offset ||
      state.legend_theme != spec.theme) {
    state.legend = legend_entries(spec, heatmap_contents(spec));
    state.legend_of = spec.values.tensor;
    state.legend_offset = spec.values.offset;
    state.legend_theme = spec.theme;
  }
  if (state.legend.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = context.fonts.small;
  const float u = context.scale, side = std::round(14.0f * u), line = std::round(18.0f * u);
  const RectF& bar = layout.bars.back();
  const float caption = width_of(font, bar_caption(context, content, layout.bars.size() - 1));
  const float x =
      std::round(static_cast<float>(bar.x) + std::max(static_cast<float>(bar.width), caption) + 28.0f * u);
  float y = std::round(static_cast<float>(bar.y) - font->FontSize - 3.0f * u);
  std::vector<HeatmapPlane> planes;
  for (const LegendEntry& entry : state.legend) {
    if (x + side + 6.0f * u + width_of(font, entry.text) > right) return;
    planes.push_back({&entry.swatch, ImVec2(x, y), ImVec2(x + side, y + side)});
    list->AddText(font, font->FontSize, ImVec2(x + side + 6.0f * u, y + (side - font->FontSize) / 2),
                  im_color(context.palette.text_dim), entry.text.c_str());
    ui_probe("stage/legend/" + entry.text, ImVec2(x, y), ImVec2(x + side, y + side));
    y += line;
    if (planes.size() == 2) break;  // as many lines as a colour bar is high
  }
  draw_heatmap_planes(list, context.heatmaps, planes);
}

struct Drawn {
  std::string name;  // its place: "left"
  const StagePart* part;
  PlaneGeometry plane;
};

// Weights that a frozen head keeps, not the softmax of its scores.
bool holds_frozen_weights(const PanelContext& context, const StagePart& part) {
  const TensorName name = part.matrix.name;
  const bool weights =
      name == TensorName{TensorId::attn_weights} || name == TensorName{TensorId::dropped_weights};
  return weights && is_frozen(context.scenario, context.selection.head);
}

// Why a hand-made head does what it does, in the corner that a product leaves free: it can be read off the
// parameters.
// Smaller, and then cut, where the corner is low.
void draw_reason(const PanelContext& context, RectF corner_area) {
  const auto description = head_description(context, context.selection.head);
  if (!description) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* bold = context.fonts.bold;
  ImFont* sans = context.fonts.sans;
  const float wrap =
      std::min(static_cast<float>(corner_area.width) - 40.0f * context.scale, 330.0f * context.scale);
  if (wrap < 120.0f * context.scale) return;
  ImVec2 at(static_cast<float>(corner_area.x), static_cast<float>(corner_area.y));
  const std::string head = fmt::format("head {}: {}", context.selection.head, description->name);
  list->AddText(bold, bold->FontSize, at, im_color(context.palette.text), head.c_str());
  at.y += bold->FontSize * 1.5f;
  const auto end = static_cast<float>(corner_area.y + corner_area.height);
  const auto height = [&](ImFont* with, const std::string& text) {
    const std::string lines = with_line_breaks(text, with, wrap);
    return with->CalcTextSizeA(with->FontSize, FLT_MAX, wrap, lines.c_str()).y;
  };
  ImFont* font = at.y + height(sans, description->reason) <= end ? sans : context.fonts.small;
  std::string whole = description->reason, reason = whole;
  while (!whole.empty() && at.y + height(font, reason) > end) {
    const std::size_t space = whole.rfind(' ');
    whole.resize(space == std::string::npos ? 0 : space);
    reason = whole.empty() ? "" : whole + " …";
  }
  list->AddText(font, font->FontSize, at, im_color(context.palette.text_dim),
                with_line_breaks(reason, font, wrap).c_str(), nullptr, wrap);
  ui_probe("stage/reason", at, {at.x + wrap, at.y + height(font, reason)});
}

// Down to what stands at the left of the bias, or over the left operand.
double reason_height(const PanelContext& context, const StageLayout& layout) {
  const double top = layout.above->y - title_height_units * context.scale;
  if (!layout.bias) return layout.result.y - title_height_units * context.scale - top;
  return layout.bias->y + (layout.bias->height - context.fonts.mono_small->FontSize) / 2 - top;
}

// In the layout 3·H each head has a matrix of its own: the columns of Wᵀ that make its block of the result. Empty for other
// layouts and pictures.
std::vector<StagePart> small_matrices(const PanelContext& context, const StageContent& content) {
  std::vector<StagePart> parts;
  if (!content.above || context.scenario.parameters.layout != ProjectionLayout::per_head) return parts;
  const StageMatrix& whole = content.above->matrix;
  const Index block = content.above->col_block;
  const bool projects = content.result->matrix.name.id == TensorId::q ||
                        content.result->matrix.name.id == TensorId::k ||
                        content.result->matrix.name.id == TensorId::v;
  if (!projects || !whole.transposed || block <= 0 || whole.view.cols <= block) return parts;
  for (Index begin = 0; begin + block <= whole.view.cols; begin += block) {
    StagePart part = *content.above;
    const Index row = whole.row_begin + begin;
    part.matrix = *stage_matrix(context.trace, whole.name, {context.selection.batch, context.selection.head},
                                true, row, row + block);
    part.spec.values = part.matrix.view;
    part.col_block = 0;
    part.row_labels = part.col_labels = nullptr;
    parts.push_back(std::move(part));
  }
  return parts;
}

// Over its block of the result, with a gap to its neighbours.
RectF small_rect(const RectF& whole, std::size_t i, std::size_t count, double scale) {
  const double width = whole.width / static_cast<double>(count);
  const double gap = std::min(6.0 * scale, 0.25 * width);
  return {whole.x + width * static_cast<double>(i) + gap / 2, whole.y, width - gap, whole.height};
}

// The one of the head that is looked at; several query heads share one of k and v.
void draw_chosen_small(const PanelContext& context, const StageContent& content,
                       const std::vector<StagePart>& small, const RectF& whole) {
  const Index sharing = std::max<Index>(1, context.trace.options.num_heads / static_cast<Index>(small.size()));
  const auto at = static_cast<std::size_t>(context.selection.head / sharing);
  if (at >= small.size()) return;
  const PlaneGeometry plane = geometry(small_rect(whole, at, small.size(), context.scale), small[at]);
  const CellBox all{0, plane.rows, 0, plane.cols};
  draw_box_outline(context.widgets(), ImGui::GetWindowDrawList(), plane, all,
                   im_color(tensor_hue(context.palette, content.result->matrix.name.id)),
                   std::max(1.0f, std::round(context.scale)));
}

}  // namespace

void draw_stage_sentence(const PanelContext& context, const std::string& sentence, RectF area) {
  ImFont* font = context.fonts.sans;
  const float wrap = std::min(static_cast<float>(area.width), 460.0f * context.scale);
  const std::string lines = with_line_breaks(sentence, font, wrap);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, lines.c_str());
  const ImVec2 at(static_cast<float>(area.x) + (static_cast<float>(area.width) - size.x) / 2,
                  static_cast<float>(area.y) + (static_cast<float>(area.height) - size.y) / 3);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, im_color(context.palette.text_dim),
                                      lines.c_str(), nullptr, wrap);
}

StageLayout one_head_layout(const PanelContext& context, const StageContent& content, const RectF& area) {
  const double scale = context.scale;
  StageShape shape = shape_of(context, content, area);
  StageLayout layout = stage_layout(shape, area, scale);
  const auto has_numbers = [&](const StageLayout& each) {
    return each.result.height >= std::ceil(shape.digit_height) * static_cast<double>(shape.rows);
  };
  if (shape.heads > 0 && !has_numbers(layout)) {
    shape.low_heads = true;
    StageLayout lower = stage_layout(shape, area, scale);
    if (has_numbers(lower)) layout = std::move(lower);
    shape.low_heads = false;
  }
  const auto too_low = [&] { return layout.result.height < smallest_result_units * scale; };
  if (too_low() && shape.heads > 0) {
    shape.heads = 0;
    // Bars stand in the order in which they were needed: the thumbnails' own is the last.
    if (is_of_thumbnails(content, content.head_map->bar)) shape.bar_captions.resize(content.head_map->bar);
    layout = stage_layout(shape, area, scale);
  }
  if (too_low()) {
    shape.bar_captions.clear();
    layout = stage_layout(shape, area, scale);
  }
  return layout;
}

PanelAction draw_one_head(const PanelContext& context, OneHeadState& state, const StageContent& content,
                          const StageContent* before, RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  StageLayout layout = one_head_layout(context, content, area);
  if (layout.result.height <= 0.0 || layout.result.width <= 0.0) {
    draw_stage_sentence(context, "make the window larger to see the matrices", area);
    return action;
  }
  if (before && before->result) {
    layout = entering_layout(context, content, layout, *before, one_head_layout(context, *before, area));
  }
  const std::vector<StageMark> marks =
      stage_marks(context.trace, context.selection, context.pointed, context.reach);
  ImDrawList* list = ImGui::GetWindowDrawList();

  std::vector<Drawn> drawn{{"result", &*content.result, geometry(layout.result, *content.result)}};
  if (content.left) drawn.push_back({"left", &*content.left, geometry(*layout.left, *content.left)});
  const std::vector<StagePart> small = small_matrices(context, content);
  if (!small.empty()) {
    for (std::size_t i = 0; i < small.size(); ++i) {
      drawn.push_back({fmt::format("above/{}", i), &small[i],
                       geometry(small_rect(*layout.above, i, small.size(), context.scale), small[i])});
    }
  } else if (content.above) {
    drawn.push_back({"above", &*content.above, geometry(*layout.above, *content.above)});
  }
  if (content.bias) drawn.push_back({"bias", &*content.bias, geometry(*layout.bias, *content.bias)});
  const std::vector<StagePart> thumbnails = thumbnail_parts(context, content, state.head_ranges);
  std::vector<HeatmapPlane> planes;
  // While its operands come in there is no result yet.
  const bool entering = before && context.motion < entering_share;
  for (const Drawn& each : drawn) {
    if (entering && each.part == &*content.result) continue;
    planes.push_back({&each.part->spec, corner(each.plane), far_corner(each.plane)});
  }
  if (layout.heads) add_thumbnail_planes(*layout.heads, thumbnails, planes);
  draw_heatmap_planes(list, context.heatmaps, planes);
  if (layout.heads) {
    action = draw_head_thumbnails(context, *layout.heads, thumbnails);
    draw_thumbnail_marks(context, *layout.heads, thumbnails);
  }

  for (const Drawn& each : drawn) {
    ui_probe("stage/" + each.name, corner(each.plane), far_corner(each.plane));
    const bool operand = each.part != &*content.result && !content.cell_for_cell;
    if (!entering || operand || each.part != &*content.result)
      draw_part_overlay(context, *each.part, each.plane, marks, operand);
    if (holds_frozen_weights(context, *each.part) && !entering) {
      draw_lock(context.widgets(), list,
                {static_cast<double>(each.plane.x), static_cast<double>(each.plane.y),
                 static_cast<double>(each.plane.width), static_cast<double>(each.plane.height)});
    }
    if (const auto cell = cell_looked_at(context, each.name, *each.part, each.plane)) under_mouse = cell;
  }
  if (!small.empty()) draw_chosen_small(context, content, small, *layout.above);
  const double right = area.x + area.width;
  const PlaneGeometry& result = drawn.front().plane;
  PlaneGeometry titled = result;
  if (!layout.col_figures.empty()) titled.y = static_cast<int>(std::round(layout.col_figures.front().y));
  draw_part_title(context, *content.result, titled, static_cast<float>(right - layout.result.x));
  std::optional<Index> head = draw_part_column_labels(context, *content.result, result, marks, layout.slanted);
  if (content.left) {
    const PlaneGeometry& left = drawn[1].plane;
    const double end = layout.row_figures.empty() ? layout.result.x : layout.row_figures.front().x;
    // In the line of the title stand the captions of the rows over the result.
    const double captions = layout.col_figures.empty() ? 0.0 : width_of(context.fonts.small, "Σ exp");
    draw_part_title(context, *content.left, left,
                    static_cast<float>(end - captions - layout.left->x - 8 * context.scale));
    // The rows are those of the result too: a cell of it is named even where the left operand is another
    // head's.
    const auto row = marked_row(content.left->matrix, marks);
    draw_part_row_labels(context, *content.left, left, row ? row : marked_row(content.result->matrix, marks));
    const auto other = draw_part_column_labels(context, *content.left, left, marks, layout.left_slanted);
    if (other) head = other;
    if (!content.sign.empty()) draw_sign(context, content.sign, *layout.left, end);
  } else {
    draw_part_row_labels(context, *content.result, result, marked_row(content.result->matrix, marks));
  }
  if (content.above) {
    const PlaneGeometry above = geometry(*layout.above, *content.above);
    const std::string sign = content.cell_for_cell ? "+"
                             : small.empty()       ? ""
                                                   : fmt::format("{} small matrices:", small.size());
    draw_part_title(context, *content.above, above, static_cast<float>(right - layout.above->x), sign);
    if (!content.cell_for_cell)
      draw_part_row_labels(context, *content.above, above, marked_row(content.above->matrix, marks));
  }
  if (head) action.selection = looking_at_head(context, *head);
  if (content.above && !content.head_map)
    draw_reason(context, {area.x, layout.above->y - title_height_units * context.scale,
                          layout.above->x - area.x, reason_height(context, layout)});
  if (content.bias) {
    ImFont* font = context.fonts.mono_small;
    const std::string name = "+ " + matrix_name(content.bias->matrix);
    const ImVec2 at(static_cast<float>(layout.bias->x) - width_of(font, name) - 6 * context.scale,
                    static_cast<float>(layout.bias->y + layout.bias->height / 2) - font->FontSize / 2);
    list->AddText(font, font->FontSize, at, im_color(context.palette.text_dim), name.c_str());
    ui_probe("stage/bias_name", at, {at.x + width_of(font, name), at.y + font->FontSize});
  }
  if ((content.row_figures || content.col_figures) && !entering)
    draw_figures(context, state, content, layout);
  for (std::size_t i = 0; i < layout.bars.size(); ++i) {
    const StageBar& bar = content.bars[i];
    const double end = i + 1 < layout.bars.size() ? layout.bars[i + 1].x - 10 * context.scale : right;
    const RangeTicks own = own_colors_ticks(bar);
    const bool is_own = context.selection.colors_by_head && is_of_thumbnails(content, i);
    draw_color_bar(context.widgets(), list, layout.bars[i], bar.color_map, context.theme, bar.range,
                   bar_caption(context, content, i), static_cast<float>(end - layout.bars[i].x),
                   is_own ? &own : nullptr);
  }
  if (!entering) draw_legend(context, state, content, layout, static_cast<float>(right));
  if (before) draw_making(context, content, *before, layout);
  return action;
}

}  // namespace headwise
