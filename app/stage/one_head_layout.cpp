#include "app/stage/one_head_layout.h"

#include <algorithm>
#include <cmath>

#include "app/stage/head_colors.h"
#include "app/stage/softmax_drawing.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"

namespace headwise {
namespace {

// Of the height of the view, for matrices too low for numbers: colour bars give way before they get less.
constexpr double least_result_share = 0.4;
constexpr double smallest_result_units = 56.0;  // height of the result that is still worth its thumbnails

StageShape shape_of(const PanelContext& context, const StageContent& content,
                    const std::vector<HeadName>& names, const RectF& area) {
  StageShape shape;
  const StagePart& result = *content.result;
  shape.rows = result.matrix.view.rows;
  shape.cols = result.matrix.view.cols;
  if (content.left) shape.left_cols = content.left->matrix.view.cols;
  if (content.above) shape.above_rows = content.above->matrix.view.rows;
  if (content.mask_to_come) shape.above_rows = shape.rows;
  shape.cell_for_cell = content.cell_for_cell;
  shape.hall = context.hall;
  shape.bias_row = content.bias.has_value();
  if (content.row_figures) shape.row_figures = softmax_figure_count(context, shape.rows, area.height);
  if (content.col_figures) shape.col_figures = softmax_figure_count(context, shape.cols, 0.6 * area.width);
  shape.heads = content.head_map ? content.head_total : 0;
  shape.head_names = head_name_widths(context, names);
  // The sign that will stand there once the mask is painted decides.
  const std::string sign = content.mask_to_come ? "+ mask" : content.sign;
  shape.sign_width = sign.empty() ? 0.0 : width_of(context.fonts.small, sign);
  const bool probabilities = tensor_entry(result.matrix.name.id).probabilities;
  const ImVec2 digits = least_digit_cell(context, result.spec, probabilities);
  shape.digit_width = digits.x;
  shape.digit_height = digits.y;
  for (std::size_t i = 0; i < content.bars.size(); ++i)
    shape.bar_captions.push_back(width_of(context.fonts.small, bar_caption(context, content, i)));
  const StagePart& first = content.left ? *content.left : result;
  shape.row_label_width = row_label_width(context, first, shape.rows);
  if (result.col_labels) shape.col_label_width = column_label_width(context, *result.col_labels, shape.cols);
  if (content.left && content.left->col_labels) {
    shape.left_col_label_width = column_label_width(context, *content.left->col_labels, *shape.left_cols);
  }
  if (content.above && content.above->row_labels && !content.cell_for_cell) {
    shape.above_label_width = label_width(context, *content.above->row_labels, *shape.above_rows);
  }
  return shape;
}

}  // namespace

bool is_of_thumbnails(const StageContent& content, std::size_t bar) {
  if (!content.head_map || content.head_map->bar != bar) return false;
  const auto parts = parts_of(content);
  return std::ranges::none_of(parts, [&](const StagePart* part) { return part->bar == bar; });
}

std::string bar_caption(const PanelContext& context, const StageContent& content, std::size_t bar) {
  return context.selection.colors_by_head && is_of_thumbnails(content, bar)
             ? own_colors_caption(*content.head_map)
             : content.bars[bar].caption;
}

StageLayout one_head_layout(const PanelContext& context, const StageContent& content,
                            const std::vector<HeadName>& names, const RectF& area) {
  const double scale = context.scale;
  StageShape shape = shape_of(context, content, names, area);
  StageLayout layout = stage_layout(shape, area, scale);
  const auto has_numbers = [&](const StageLayout& each) {
    return each.result.height >= std::ceil(shape.digit_height) * static_cast<double>(shape.rows);
  };
  const auto is_low = [&] {
    const double above = layout.above ? layout.above->height : 0.0;
    return !has_numbers(layout) && layout.result.height + above < least_result_share * area.height;
  };
  // For the numbers of the result the heads' names give way, then the thumbnails become lower.
  if (!shape.head_names.empty() && !has_numbers(layout)) {
    StageShape nameless = shape;
    nameless.head_names.clear();
    StageLayout higher = stage_layout(nameless, area, scale);
    const double figures =
        shape.row_figures > 0 ? least_figure_row(context) * static_cast<double>(shape.rows) : 0.0;
    const bool lose_figures = layout.result.height < figures && higher.result.height >= figures;
    if (has_numbers(higher) || lose_figures || is_low()) {
      layout = std::move(higher);
      shape = std::move(nameless);
    }
  }
  if (shape.heads > 0 && !has_numbers(layout)) {
    shape.low_heads = true;
    StageLayout lower = stage_layout(shape, area, scale);
    if (has_numbers(lower)) layout = std::move(lower);
    shape.low_heads = false;
  }
  if (is_low()) {
    shape.bar_captions.clear();
    layout = stage_layout(shape, area, scale);
  }
  // Figures wider than the map whose rows they belong to say less than it.
  if (!layout.row_figures.empty() && layout.result.width < layout.result.x - layout.row_figures.front().x) {
    shape.row_figures = 0;
    layout = stage_layout(shape, area, scale);
  }
  const auto too_low = [&] { return layout.result.height < smallest_result_units * scale; };
  if (too_low() && shape.heads > 0) {
    shape.heads = 0;
    // Bars come in the order in which they were needed: the thumbnails' own is the last.
    const std::size_t bar = content.head_map->bar;
    if (is_of_thumbnails(content, bar) && bar < shape.bar_captions.size()) shape.bar_captions.resize(bar);
    layout = stage_layout(shape, area, scale);
  }
  if (too_low()) {
    shape.bar_captions.clear();
    layout = stage_layout(shape, area, scale);
  }
  return layout;
}

}  // namespace headwise
