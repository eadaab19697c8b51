#include "app/panels/stage_panel.h"

#include <imgui.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "app/panels/head_thumbnails.h"
#include "app/panels/stage_all_heads.h"
#include "app/panels/stage_drawing.h"
#include "app/panels/stage_layout.h"
#include "app/platform/fonts.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/color_bar.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/number_text.h"
#include "app/widgets/segmented_control.h"

namespace headwise {
namespace {

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

// One of a few, beside what is already in the line. True where another was chosen.
bool choice(const PanelContext& context, const char* id, std::span<const std::string_view> labels,
            int& chosen, bool enabled = true) {
  SegmentedOptions options;
  options.enabled = enabled;
  return segmented_control(widget_context(context), id, labels, chosen, options);
}

// Title, question, and the ways to look: the selection with what was chosen in this frame.
Selection draw_header(const PanelContext& context, const StageContent& content) {
  Selection selection = context.selection;
  const StepEntry& entry = step_entries()[static_cast<std::size_t>(selection.step)];
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, u = context.scale;
  ImDrawList* list = ImGui::GetWindowDrawList();

  ImFont* title = context.fonts.title;
  const std::string name(entry.name);
  list->AddText(title, title->FontSize, origin, im_color(context.palette.text), name.c_str());
  ImFont* sans = context.fonts.sans;
  const float x = width_of(title, name) + 14.0f * u;
  const std::string question = fitted_text(std::string(entry.question), sans, width - x);
  list->AddText(sans, sans->FontSize,
                ImVec2(origin.x + x, origin.y + title->FontSize * 0.8f - sans->FontSize * 0.8f),
                im_color(context.palette.text_dim), question.c_str());

  ImGui::SetCursorScreenPos(ImVec2(origin.x, origin.y + title->FontSize + 8.0f * u));
  constexpr std::array<std::string_view, 2> views{"One head", "All heads"};
  int view = selection.view == StageView::all_heads ? 1 : 0;
  const bool has_heads = content.result && content.result->matrix.leading.size() == 2;
  if (choice(context, "view", views, view, has_heads)) {
    selection.view = view == 1 ? StageView::all_heads : StageView::one_head;
  }
  if (content.pictures.size() > 1) {
    std::vector<std::string_view> names;
    for (const StepPicture& picture : content.pictures) names.push_back(tensor_entry(picture.result).name);
    int chosen = content.picture < names.size() ? static_cast<int>(content.picture) : -1;
    ImGui::SameLine(0.0f, 12.0f * u);
    if (choice(context, "picture", names, chosen)) {
      selection.tensor = content.pictures[static_cast<std::size_t>(chosen)].result;
    }
  }
  const TensorPtr any = content.result ? content.result->matrix.view.tensor : nullptr;
  const Index batches = any && any->shape().rank() >= 3 ? any->shape().size(0) : 1;
  if (batches > 1) {
    constexpr std::array<std::string_view, 2> ways{"‹", "›"};
    int way = -1;
    ImGui::SameLine(0.0f, 12.0f * u);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const std::string text = fmt::format("batch {} of {}", selection.batch, batches);
    const float line = segmented_control_size(widget_context(context), ways).y;
    list->AddText(sans, sans->FontSize, ImVec2(at.x, at.y + (line - sans->FontSize) / 2),
                  im_color(context.palette.text_dim), text.c_str());
    ImGui::SetCursorScreenPos(ImVec2(at.x + width_of(sans, text) + 8.0f * u, at.y));
    if (choice(context, "batch", ways, way)) {
      selection.batch = std::clamp<Index>(selection.batch + (way == 0 ? -1 : 1), 0, batches - 1);
      if (selection.pinned && selection.pinned->index.size() >= 3)
        selection.pinned->index[0] = selection.batch;
    }
  }
  return selection;
}

StageShape shape_of(const PanelContext& context, const StageContent& content) {
  const WidgetContext widgets = widget_context(context);
  StageShape shape;
  const StagePart& result = *content.result;
  shape.rows = result.matrix.view.rows;
  shape.cols = result.matrix.view.cols;
  if (content.left) shape.left_cols = content.left->matrix.view.cols;
  if (content.above) shape.above_rows = content.above->matrix.view.rows;
  shape.cell_for_cell = content.cell_for_cell;
  shape.bias_row = content.bias.has_value();
  shape.row_figures = content.row_figures ? 2 : 0;
  shape.heads = content.head_map ? content.head_total : 0;
  shape.sign_width = content.sign.empty() ? 0.0 : width_of(context.fonts.small, content.sign);
  for (const StageBar& bar : content.bars)
    shape.bar_captions.push_back(width_of(context.fonts.small, bar.caption));
  const StagePart& first = content.left ? *content.left : result;
  if (first.row_labels) shape.row_label_width = label_width(widgets, *first.row_labels, shape.rows);
  if (result.col_labels) shape.col_label_width = label_width(widgets, *result.col_labels, shape.cols);
  if (content.left && content.left->col_labels) {
    shape.left_col_label_width = label_width(widgets, *content.left->col_labels, *shape.left_cols);
  }
  if (content.above && content.above->row_labels && !content.cell_for_cell) {
    shape.above_label_width = label_width(widgets, *content.above->row_labels, *shape.above_rows);
  }
  return shape;
}

// The row maximum in the colours of its scores, and Σ exp(x − max), before the result of a softmax.
void draw_row_figures(const PanelContext& context, StageState& state, const StageContent& content,
                      const StageLayout& layout) {
  const MatrixView& scores = content.left->matrix.view;
  if (state.figures_of.lock() != scores.tensor || state.figures_offset != scores.offset) {
    state.figures = softmax_figures(scores);
    state.figures_of = scores.tensor;
    state.figures_offset = scores.offset;
  }
  const WidgetContext widgets = widget_context(context);
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* small = context.fonts.small;
  ImFont* mono = context.fonts.mono_small;
  const auto caption = [&](const RectF& column, const std::string& text) {
    list->AddText(small, small->FontSize,
                  ImVec2(static_cast<float>(column.x + column.width / 2) - width_of(small, text) / 2,
                         static_cast<float>(column.y) - small->FontSize - 4.0f * context.scale),
                  im_color(context.palette.text_dim), text.c_str());
  };
  HeatmapSpec maximum = content.left->spec;
  maximum.mask.reset();
  maximum.values = matrix_view(state.figures.maximum);
  const PlaneGeometry plane = plane_geometry(layout.row_figures[0], scores.rows, 1);
  draw_heatmap_plane(list, context.heatmaps, maximum, corner(plane), far_corner(plane));
  draw_cell_digits(widgets, list, plane, maximum, false);
  caption(layout.row_figures[0], "max");

  const RectF& sums = layout.row_figures[1];
  caption(sums, "Σ exp");
  const PlaneGeometry rows = plane_geometry(sums, scores.rows, 1);
  if (static_cast<float>(rows.height) < static_cast<float>(rows.rows) * mono->FontSize) return;
  for (Index row = 0; row < rows.rows; ++row) {
    const RectF cell = rows.cell(row, 0);
    const std::string text = decimal_text(state.figures.exp_sum[static_cast<std::size_t>(row)], 2);
    list->AddText(mono, mono->FontSize,
                  ImVec2(std::floor(static_cast<float>(cell.x + cell.width) - width_of(mono, text)),
                         std::floor(static_cast<float>(cell.y + cell.height / 2) - mono->FontSize / 2)),
                  im_color(context.palette.text), text.c_str());
  }
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

struct Drawn {
  const StagePart* part;
  PlaneGeometry plane;
};

PanelAction draw_one_head(const PanelContext& context, StageState& state, const StageContent& content,
                          RectF area, std::optional<CellRef>& under_mouse) {
  PanelAction action;
  const StageLayout layout = stage_layout(shape_of(context, content), area, context.scale);
  const std::vector<StageMark> marks = stage_marks(context.trace, context.selection);
  ImDrawList* list = ImGui::GetWindowDrawList();

  std::vector<Drawn> drawn{{&*content.result, geometry(layout.result, *content.result)}};
  if (content.left) drawn.push_back({&*content.left, geometry(*layout.left, *content.left)});
  if (content.above) drawn.push_back({&*content.above, geometry(*layout.above, *content.above)});
  if (content.bias) drawn.push_back({&*content.bias, geometry(*layout.bias, *content.bias)});
  const std::vector<StagePart> thumbnails = thumbnail_parts(context, content);
  std::vector<HeatmapPlane> planes;
  for (const Drawn& each : drawn)
    planes.push_back({&each.part->spec, corner(each.plane), far_corner(each.plane)});
  if (layout.heads) add_thumbnail_planes(*layout.heads, thumbnails, planes);
  draw_heatmap_planes(list, context.heatmaps, planes);
  if (layout.heads) action = draw_head_thumbnails(context, *layout.heads);

  for (const Drawn& each : drawn) {
    draw_part_overlay(context, *each.part, each.plane, marks);
    if (const auto cell = cell_under_mouse(*each.part, each.plane)) under_mouse = cell;
  }
  const double right = area.x + area.width;
  const PlaneGeometry& result = drawn.front().plane;
  draw_part_title(context, *content.result, result, static_cast<float>(right - layout.result.x));
  draw_part_column_labels(context, *content.result, result, marks, layout.slanted);
  if (content.left) {
    const PlaneGeometry& left = drawn[1].plane;
    const double end = layout.row_figures.empty() ? layout.result.x : layout.row_figures.front().x;
    draw_part_title(context, *content.left, left,
                    static_cast<float>(end - layout.left->x - 8 * context.scale));
    draw_part_row_labels(context, *content.left, left, marks);
    draw_part_column_labels(context, *content.left, left, marks, layout.left_slanted);
    if (!content.sign.empty()) draw_sign(context, content.sign, *layout.left, end);
  } else {
    draw_part_row_labels(context, *content.result, result, marks);
  }
  if (content.above) {
    const PlaneGeometry above = geometry(*layout.above, *content.above);
    draw_part_title(context, *content.above, above, static_cast<float>(right - layout.above->x),
                    content.cell_for_cell ? "+" : "");
    if (!content.cell_for_cell) draw_part_row_labels(context, *content.above, above, marks);
  }
  if (content.bias) {
    ImFont* font = context.fonts.mono_small;
    const std::string name = "+ " + matrix_name(content.bias->matrix);
    list->AddText(font, font->FontSize,
                  ImVec2(static_cast<float>(layout.bias->x) - width_of(font, name) - 6 * context.scale,
                         static_cast<float>(layout.bias->y + layout.bias->height / 2) - font->FontSize / 2),
                  im_color(context.palette.text_dim), name.c_str());
  }
  if (!layout.row_figures.empty()) draw_row_figures(context, state, content, layout);
  for (std::size_t i = 0; i < layout.bars.size(); ++i) {
    const StageBar& bar = content.bars[i];
    draw_color_bar(widget_context(context), list, layout.bars[i], bar.color_map, context.theme, bar.range,
                   bar.caption);
  }
  return action;
}

void draw_nothing(const PanelContext& context, const std::string& sentence, RectF area) {
  ImFont* font = context.fonts.sans;
  const float wrap = std::min(static_cast<float>(area.width), 460.0f * context.scale);
  const ImVec2 size = font->CalcTextSizeA(font->FontSize, FLT_MAX, wrap, sentence.c_str());
  const ImVec2 at(static_cast<float>(area.x) + (static_cast<float>(area.width) - size.x) / 2,
                  static_cast<float>(area.y) + (static_cast<float>(area.height) - size.y) / 3);
  ImGui::GetWindowDrawList()->AddText(font, font->FontSize, at, im_color(context.palette.text_dim),
                                      sentence.c_str(), nullptr, wrap);
}

}  // namespace

PanelAction draw_stage(const PanelContext& context, StageState& state) {
  const ImVec2 origin = ImGui::GetCursorScreenPos(), available = ImGui::GetContentRegionAvail();
  const StageContent content =
      stage_content(context.trace, context.inputs.labels, context.selection, context.theme, state.ranges);
  Selection selection = draw_header(context, content);

  const double top = ImGui::GetCursorScreenPos().y + 12.0 * context.scale;
  const RectF area{origin.x, top, available.x, std::max(0.0, origin.y + available.y - top)};
  PanelAction action;
  std::optional<CellRef> under_mouse;
  const bool room = area.width > 120 * context.scale && area.height > 120 * context.scale;
  if (!content.nothing.empty()) {
    draw_nothing(context, content.nothing, area);
  } else if (!room) {
    draw_nothing(context, "make the window larger to see the matrices", area);
  } else if (selection.view == StageView::all_heads && content.result->matrix.leading.size() == 2) {
    action = draw_all_heads(context, content, area, under_mouse);
  } else {
    action = draw_one_head(context, state, content, area, under_mouse);
  }

  // The mouse: a preview while it is over a cell, a pin where it is pressed. Other panels preview cells too,
  // so only what the stage has set is taken back by it.
  if (action.selection) {
    action.selection->step = selection.step;
    selection = *action.selection;
  }
  if (under_mouse) {
    selection.hovered = under_mouse;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      const bool let_go = selection.pinned == under_mouse;
      selection.pinned = let_go ? std::nullopt : under_mouse;
    }
  } else if (state.hovering) {
    selection.hovered.reset();
  }
  state.hovering = under_mouse.has_value();
  if (selection != context.selection) action.selection = std::move(selection);
  return action;
}

}  // namespace headwise
