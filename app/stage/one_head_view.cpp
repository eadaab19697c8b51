#include "app/stage/views.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <imgui.h>

#include "app/panels/veil.h"
#include "app/session/head_gains.h"
#include "app/stage/one_head_layout.h"
#include "app/stage/stage_drawing.h"
#include "app/stage/stage_motion.h"
#include "app/stage/veiled_stage.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/text_layout.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// In the layout 3·H, cuts Wᵀ into each head's own matrix: the columns that produce its block of the result.

// Returns the part above the result, one matrix per head; empty for other layouts and pictures.
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

// Places matrix `i` of `count` in the rectangle of all of them: above its block of the result, with a gap to
// its neighbours.
RectF small_rect(const RectF& whole, std::size_t i, std::size_t count, double scale) {
  const double width = whole.width / static_cast<double>(count);
  const double gap = std::min(6.0 * scale, 0.25 * width);
  return {whole.x + width * static_cast<double>(i) + gap / 2, whole.y, width - gap, whole.height};
}

// Outlines the selected head's matrix; several query heads share one of k and v.
void outline_selected_head(const PanelContext& context, const StageContent& content,
                           const std::vector<StagePart>& small, const RectF& whole) {
  const Index sharing = std::max<Index>(1, context.trace.options.num_heads / static_cast<Index>(small.size()));
  const auto at = static_cast<std::size_t>(context.selection.head / sharing);
  if (at >= small.size()) return;
  const PlaneGeometry plane = part_plane(small_rect(whole, at, small.size(), context.scale), small[at]);
  const CellBox all{0, plane.rows, 0, plane.cols};
  draw_box_outline(context.painter(), plane, all,
                   im_color(tensor_hue(context.palette, content.result->matrix.name.id)), context.hairline());
}

// The row maximum and Σ exp of the softmax, cached until another head is shown.
void draw_figures(const PanelContext& context, OneHeadState& state, const StageContent& content,
                  const StageLayout& layout) {
  const MatrixView& scores = content.left->matrix.view;
  const TensorPtr& sinks = context.trace.tensors.sinks;
  const double sink = sinks ? sinks->flat(context.selection.head) : -HUGE_VAL;
  if (state.figures_of.lock() != scores.tensor || state.figures_offset != scores.offset ||
      state.figures_sink != sink) {
    state.figures = softmax_figures(content.col_figures ? scores.transposed() : scores, sink);
    state.figures_of = scores.tensor;
    state.figures_offset = scores.offset;
    state.figures_sink = sink;
  }
  draw_softmax_figures(context, state.figures, *content.left, layout);
}

// The operation that turns the left operand into the result, with an arrow below it, in the gap between them.
void draw_sign(const PanelContext& context, const std::string& sign, const RectF& left, double gap_end) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const float u = context.scale;
  const float middle = float((left.x + left.width + gap_end) / 2);
  const float y = float(left.y + left.height / 2);
  const ImU32 color = im_color(context.palette.text_dim);
  paint.say(font, {middle, y - font->FontSize - 4 * u}, color, sign, Align::middle);
  const float half = 9.0f * u;
  paint.line({middle - half, y + 2 * u}, {middle + half, y + 2 * u}, color, u);
  paint.line({middle + half - 4 * u, y - 2 * u}, {middle + half, y + 2 * u}, color, u);
  paint.line({middle + half - 4 * u, y + 6 * u}, {middle + half, y + 2 * u}, color, u);
}

// After the colour bars: what grey, crossed or minus-marked cells mean, if the result has any.
void draw_legend(const PanelContext& context, OneHeadState& state, const StageContent& content,
                 const StageLayout& layout, float right) {
  if (layout.bars.empty()) return;
  const HeatmapSpec* const spec = &content.result->spec;
  state.legend.update(std::span(&spec, 1));
  // The room below the map is the mask's bars' while it is painted.
  if (const auto end =
          draw_legend_beside(context, state.legend, layout.bars.back(), float(state.foot_right), right))
    state.foot_right = std::max<double>(state.foot_right, *end);
}

// Weights that a frozen head keeps, not the softmax of its scores.
bool holds_frozen_weights(const PanelContext& context, const StagePart& part) {
  const TensorName name = part.matrix.name;
  const bool weights =
      name == TensorName{TensorId::attn_weights} || name == TensorName{TensorId::dropped_weights};
  return weights && is_frozen(context.scenario, context.selection.head);
}

// Why a hand-made head does what it does, in the corner that a product leaves free: it can be read off the
// parameters. In a low corner smaller, and then cut.
void draw_reason(const PanelContext& context, RectF area) {
  const auto description = head_description(context, context.selection.head);
  if (!description) return;
  const Painter paint = context.painter();
  ImFont* bold = context.fonts.bold;
  ImFont* sans = context.fonts.sans;
  const float wrap = std::min(float(area.width) - 40.0f * context.scale, 330.0f * context.scale);
  if (wrap < 120.0f * context.scale) return;
  ImVec2 at = corner(area);
  const std::string head =
      fitted_text(fmt::format("head {}: {}", context.selection.head, description->name), bold, wrap);
  paint.text(bold, at, context.palette.text, head);
  at.y += bold->FontSize * 1.5f;
  const auto end = float(area.y + area.height);
  const auto height = [&](ImFont* with, const std::string& text) { return size_in(with, wrap, text).y; };
  ImFont* font = at.y + height(sans, description->reason) <= end ? sans : context.fonts.small;
  std::string whole = description->reason, reason = whole;
  while (!whole.empty() && at.y + height(font, reason) > end) {
    const std::size_t space = whole.rfind(' ');
    whole.resize(space == std::string::npos ? 0 : space);
    reason = whole.empty() ? "" : whole + " …";
  }
  const Box drawn = paint.wrapped(wrap, font, at, context.palette.text_dim, reason);
  ui_probe("stage/reason", at, {at.x + wrap, drawn.max.y});
}

// Down to the label left of the bias, or to the left operand.
double reason_height(const PanelContext& context, const StageLayout& layout) {
  const double top = layout.above->y - title_height_units * context.scale;
  if (!layout.bias) return layout.result.y - title_height_units * context.scale - top;
  return layout.bias->y + (layout.bias->height - context.fonts.mono_small->FontSize) / 2 - top;
}

// The place of a mask that is not there. The pairs under the mouse are those of the map below,
// so it can be painted here too.
void draw_mask_to_come(const PanelContext& context, const StagePart& result, const RectF& rect,
                       std::optional<CellRef>& under_mouse) {
  const Painter paint = context.painter();
  ImFont* font = context.fonts.small;
  const PlaneGeometry plane = part_plane(rect, result);
  paint.outline(plane, context.palette.text_faint, context.hairline());
  ui_probe("stage/mask_to_come", plane);
  const float room = float(plane.width) - 12.0f * context.scale;
  const std::string words = fitted_clauses("no mask, every query may attend to every key", font, room);
  paint.say(font, {float(plane.x + plane.width / 2), float(plane.y + plane.height / 2) - font->FontSize / 2},
            context.palette.text_dim, words, Align::middle);
  if (keys_decide(context) || !ImGui::IsWindowHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (const auto cell = plane.cell_at(mouse.x, mouse.y))
    under_mouse = cell_at(result.matrix, cell->first, cell->second);
}

// Where the result begins with the numbers beside it.
double begin_of_result(const StageLayout& layout) {
  if (!layout.row_figures.empty()) return layout.row_figures.front().x;
  return layout.sink ? std::min(layout.sink->x, layout.result.x) : layout.result.x;
}

// Over the sink's column, or left of its row.
void draw_sink_name(const PanelContext& context, const RectF& sink, bool column) {
  ImFont* font = context.fonts.small;
  const float gap = 4.0f * context.scale;
  const Box box = sink;
  const ImVec2 at = column ? ImVec2(box.middle().x, box.min.y - font->FontSize - gap)
                           : ImVec2(box.min.x - gap, box.middle().y - 0.5f * font->FontSize);
  context.painter().say(font, at, context.palette.text_dim, "sink", column ? Align::middle : Align::right);
}

// Left of the bias.
void draw_bias_name(const PanelContext& context, const StagePart& bias, const RectF& row) {
  ImFont* font = context.fonts.mono_small;
  const std::string name = "+ " + name_on_stage(context, bias.matrix);
  const ImVec2 end(float(row.x) - 6 * context.scale, float(row.y + row.height / 2));
  ui_probe("stage/bias_name",
           context.painter().text_beside(font, end, context.palette.text_dim, name, Align::right));
}

struct DrawnMaps {
  std::string name;  // its place: "left"
  const StagePart* part;
  PlaneGeometry plane;
};

// The result, its operands and the thumbnails, if the layout has them. `entering`: the operands are still
// moving in from the previous step, and there is no result yet. `final_layout`: where all comes to rest.
// While the left operand is on its way over the place of the result,
// the result's words and the sign between the two wait.
class OneHeadView {
 public:
  OneHeadView(const PanelContext& context, const StageContent& content, const StageLayout& layout,
              const StageLayout& final_layout, const RectF& area, bool entering)
      : context_(context),
        content_(content),
        layout_(layout),
        area_(area),
        entering_(entering),
        left_is_moving_(entering && layout.left && final_layout.left &&
                        layout.left->x + layout.left->width >
                            final_layout.left->x + final_layout.left->width + context.scale) {
    const auto add = [&](std::string name, const StagePart& part, const RectF& rect) {
      drawn_.push_back({std::move(name), &part, part_plane(rect, part)});
    };
    add("result", *content.result, layout.result);
    if (content.left) add("left", *content.left, *layout.left);
    for (std::size_t i = 0; i < small_.size(); ++i)
      add(fmt::format("above/{}", i), small_[i], small_rect(*layout.above, i, small_.size(), context.scale));
    if (content.above && small_.empty()) add("above", *content.above, *layout.above);
    if (content.bias) add("bias", *content.bias, *layout.bias);
    if (content.sink && layout.sink) add("sink", *content.sink, *layout.sink);
  }

  // All planes of cells in one call, and what belongs to the thumbnails.
  PanelAction draw_planes(HeadRanges& head_ranges, const std::vector<HeadName>& names) const {
    const std::vector<StagePart> thumbnails = thumbnail_parts(context_, content_, head_ranges);
    std::vector<HeatmapPlane> planes;
    for (const DrawnMaps& each : drawn_) {
      if (entering_ && is_made(each)) continue;
      planes.push_back({&each.part->spec, corner(each.plane), far_corner(each.plane)});
    }
    if (layout_.heads) add_thumbnail_planes(*layout_.heads, thumbnails, planes);
    draw_heatmap_planes(ImGui::GetWindowDrawList(), context_.heatmaps, planes);
    return layout_.heads ? draw_head_thumbnails(context_, *layout_.heads, thumbnails, names) : PanelAction{};
  }

  void draw_overlays(std::optional<CellRef>& under_mouse) const {
    for (const DrawnMaps& each : drawn_) {
      const PlaneGeometry& plane = each.plane;
      if (entering_ && is_sink(each)) continue;
      ui_probe("stage/" + each.name, plane);
      if (!entering_ || !is_result(each))
        draw_part_overlay(context_, *each.part, plane, marks_, !is_result(each) && !content_.cell_for_cell);
      if (holds_frozen_weights(context_, *each.part) && !entering_)
        draw_lock(context_.painter(), plane_rect(plane));
      if (content_.veiled && is_result(each)) {
        // Its cells can be pointed at, or painted, if the page asks for them.
        const bool cells = context_.points_at && each.part->matrix.name == TensorName{*context_.points_at};
        if (context_.answer_mask && context_.answer_mask->asks && is_pair_map(each.part->matrix)) {
          draw_mask_to_paint(context_, *each.part, plane);
        } else if (cells) {
          const auto cell = pointed_plane_cell(context_, each.name, plane);
          draw_veil(context_, plane_rect(plane), {&plane, cell, "hidden until you point at a cell"});
          if (cell) under_mouse = cell_at(each.part->matrix, cell->first, cell->second);
        } else if (context_.points_at_tensors) {
          const auto cell = pointed_plane_cell(context_, each.name, plane);
          draw_veil(context_, plane_rect(plane), {.caption = "hidden; a click answers with it"});
          if (cell) under_mouse = cell_at(each.part->matrix, cell->first, cell->second);
        } else if (context_.veil->mask && !context_.answer_mask) {
          draw_veil(context_, plane_rect(plane), {.caption = "no mask to paint"});
        } else {
          draw_veil(context_, plane_rect(plane));
        }
        continue;
      }
      if (is_result(each) && context_.answer_mask && !entering_)
        draw_wrong_pairs(context_, *each.part, plane);
      if (const auto cell = pointed_cell(context_, each.name, *each.part, plane)) under_mouse = cell;
    }
    if (!small_.empty()) outline_selected_head(context_, content_, small_, *layout_.above);
    if (content_.mask_to_come) draw_mask_to_come(context_, *content_.result, *layout_.above, under_mouse);
  }

  // Under the veil a cell is known to no other panel: only the labels of its row and column tell where it is.
  void mark_cell(const CellRef& cell) { marks_.push_back({box_of(cell), MarkKind::cell}); }

  // Titles and labels; returns the head whose number was clicked.
  std::optional<Index> draw_words() const {
    PlaneGeometry titled = result();
    if (!layout_.col_figures.empty()) titled.y = static_cast<int>(std::round(layout_.col_figures.front().y));
    if (content_.sink && layout_.sink && !entering_)
      draw_sink_name(context_, *layout_.sink, content_.sink->matrix.transposed);
    std::optional<Index> head;
    if (!left_is_moving_) {
      draw_part_title(context_, *content_.result, titled, float(right_ - layout_.result.x));
      head = draw_part_column_labels(context_, *content_.result, result(), marks_, layout_.slanted);
    }
    if (content_.left) {
      if (const auto clicked = draw_left_words()) head = clicked;
    } else {
      draw_part_row_labels(context_, *content_.result, result(), marked_row(content_.result->matrix, marks_));
    }
    if (content_.above) draw_above_words();
    if (content_.bias) draw_bias_name(context_, *content_.bias, *layout_.bias);
    return head;
  }

  // Returns where they end.
  double draw_bars() const {
    double bars_end = area_.x;
    for (std::size_t i = 0; i < layout_.bars.size(); ++i) {
      const StageBar& bar = content_.bars[i];
      const RectF& strip = layout_.bars[i];
      const double end = i + 1 < layout_.bars.size() ? layout_.bars[i + 1].x - 10 * context_.scale : right_;
      const RangeTicks own = own_colors_ticks(bar);
      const bool is_own = context_.selection.colors_by_head && is_of_thumbnails(content_, i);
      bars_end =
          draw_color_bar(context_.painter(), strip, bar.color_map, context_.theme, bar.range,
                         bar_caption(context_, content_, i), float(end - strip.x), is_own ? &own : nullptr);
    }
    return bars_end;
  }

  const PlaneGeometry& result() const { return drawn_[0].plane; }

 private:
  std::optional<Index> draw_left_words() const {
    const StagePart& part = *content_.left;
    const PlaneGeometry& left = drawn_[1].plane;
    const double end = left_is_moving_ ? right_ : begin_of_result(layout_);
    // The captions of the rows above the result share the title line.
    const double captions = layout_.col_figures.empty() ? 0.0 : width_of(context_.fonts.small, "Σ exp");
    draw_part_title(context_, part, left, float(end - captions - layout_.left->x - 8 * context_.scale));
    // The rows are those of the result too: a cell's row is named even if the left operand is another head's.
    const auto row = marked_row(part.matrix, marks_);
    draw_part_row_labels(context_, part, left, row ? row : marked_row(content_.result->matrix, marks_));
    const auto head = draw_part_column_labels(context_, part, left, marks_, layout_.left_slanted);
    if (!content_.sign.empty() && !left_is_moving_) draw_sign(context_, content_.sign, *layout_.left, end);
    return head;
  }

  void draw_above_words() const {
    const StagePart& part = *content_.above;
    const PlaneGeometry above = part_plane(*layout_.above, part);
    const std::string sign = content_.cell_for_cell ? content_.above_sign
                             : small_.empty()       ? ""
                                                    : fmt::format("{} small matrices:", small_.size());
    draw_part_title(context_, part, above, float(right_ - layout_.above->x), sign);
    if (!content_.cell_for_cell) draw_part_row_labels(context_, part, above, marked_row(part.matrix, marks_));
    if (!content_.head_map)
      draw_reason(context_, {area_.x, layout_.above->y - title_height_units * context_.scale,
                             layout_.above->x - area_.x, reason_height(context_, layout_)});
  }

  bool is_result(const DrawnMaps& each) const { return each.part == &*content_.result; }
  bool is_sink(const DrawnMaps& each) const { return content_.sink && each.part == &*content_.sink; }
  bool is_made(const DrawnMaps& each) const { return is_result(each) || is_sink(each); }

  const PanelContext& context_;
  const StageContent& content_;
  const StageLayout& layout_;
  const RectF area_;
  const bool entering_;
  const bool left_is_moving_;
  const double right_ = area_.x + area_.width;
  std::vector<StageMark> marks_ =
      stage_marks(context_.trace, context_.selection, context_.pointed, context_.reach);
  const std::vector<StagePart> small_ = small_matrices(context_, content_);
  std::vector<DrawnMaps> drawn_;  // the result first, then the left operand, if any
};

}  // namespace

PanelAction draw_one_head(const PanelContext& context, OneHeadState& state, const StageContent& content,
                          const StageContent* before, RectF area, std::optional<CellRef>& under_mouse) {
  const std::vector<HeadName>& names = state.head_names.of(context);
  StageLayout layout = one_head_layout(context, content, names, area);
  if (layout.result.height <= 0.0 || layout.result.width <= 0.0) {
    draw_stage_sentence(context, "make the window larger to see the matrices", area);
    return {};
  }
  const StageLayout final_layout = layout;
  if (before && before->result)
    layout = entering_layout(context, content, layout, *before, one_head_layout(context, *before, names, area));
  const bool entering = content.veiled || (before && context.motion < entering_share);
  OneHeadView view(context, content, layout, final_layout, area, entering);
  state.shown = ShownMap{content.result->matrix.name, content.result->matrix.transposed, view.result(),
                         content.result->spec.color_map, content.result->spec.range};
  PanelAction action = view.draw_planes(state.head_ranges, names);
  view.draw_overlays(under_mouse);
  if (content.veiled && under_mouse) view.mark_cell(*under_mouse);
  if (const auto head = view.draw_words()) action.selection = looking_at_head(context, *head);
  if ((content.row_figures || content.col_figures) && !entering)
    draw_figures(context, state, content, layout);
  state.foot_right = view.draw_bars();
  if (!entering) draw_legend(context, state, content, layout, float(area.x + area.width));
  if (before) draw_making(context, content, *before, layout);
  return action;
}

}  // namespace headwise
