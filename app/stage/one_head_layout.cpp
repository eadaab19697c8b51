#include "app/stage/one_head_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <imgui.h>

#include "app/stage/stage_cells.h"
#include "app/stage/stage_drawing.h"
#include "app/widgets/axis_labels.h"
#include "app/widgets/heatmap_view.h"
#include "app/widgets/ui_probe.h"
#include "core/export/number_text.h"

namespace headwise {
namespace {

// Scales of the small type, tried in turn; below the least number of pixels nothing is legible.
constexpr std::array<float, 3> sizes{1.0f, 0.84f, 0.72f};
constexpr float least_pixels = 8.0f;

struct NumberStyle {
  int decimals = 0;
  float size = 0.0f;  // 0: there is no room
};

class Figures {
 public:
  Figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
          const StageLayout& layout)
      : context_(context), figures_(figures), scores_(scores), paint_(context.painter()) {
    across_ = layout.row_figures.empty();
    rects_ = across_ ? layout.col_figures : layout.row_figures;
    count_ = static_cast<Index>(figures.exp_sum.size());
  }

  void draw() const {
    maximum(rects_[0]);
    if (rects_.size() > 1) sums(rects_[1]);
  }

 private:
  PlaneGeometry plane_of(const RectF& rect) const {
    return across_ ? plane_geometry(rect, 1, count_) : plane_geometry(rect, count_, 1);
  }
  RectF cell(const PlaneGeometry& plane, Index query) const {
    return across_ ? plane.cell(0, query) : plane.cell(query, 0);
  }
  void caption(const RectF& rect, const std::string& text) const {
    ImFont* small = context_.fonts.small;
    const float gap = 4.0f * context_.scale;
    const ImVec2 at = across_ ? ImVec2(float(rect.x) - gap, Box(rect).middle().y - 0.5f * small->FontSize)
                              : ImVec2(Box(rect).middle().x, float(rect.y) - small->FontSize - gap);
    paint_.text(small, at, context_.palette.text_dim, text, across_ ? Align::right : Align::middle);
  }
  // The largest type, in the first format tried, in which every number fits.
  template <class Text>
  NumberStyle style_for(const PlaneGeometry& plane, std::initializer_list<int> tries, const Text& text) const {
    ImFont* mono = context_.fonts.mono_small;
    const RectF room = cell(plane, 0);
    for (const int decimals : tries) {
      float widest = 0.0f;  // at the usual size
      for (Index i = 0; i < count_; ++i) widest = std::max(widest, width_of(mono, text(i, decimals)));
      for (const float part : sizes) {
        const float size = std::round(part * mono->FontSize);
        if (size < least_pixels) break;
        const bool fits = widest * size / mono->FontSize <= room.width && size <= room.height + 1.0;
        if (fits) return {decimals, size};
      }
    }
    return {};
  }
  template <class Text, class Ink>
  bool write(const PlaneGeometry& plane, std::initializer_list<int> decimals_to_try, const Text& text,
             const Ink& ink, const char* probe) const {
    const NumberStyle style = style_for(plane, decimals_to_try, text);
    if (style.size <= 0.0f) return false;
    ImFont* mono = context_.fonts.mono_small;
    for (Index i = 0; i < count_; ++i) {
      const std::string number = text(i, style.decimals);
      paint_.text_beside({mono, style.size}, Box(cell(plane, i)).middle(), ink(i), number, Align::middle);
    }
    ui_probe(probe, plane);
    return true;
  }

  void maximum(const RectF& rect) const {
    HeatmapSpec spec = scores_.spec;
    spec.mask.reset();
    spec.values = matrix_view(figures_.maximum);
    if (across_) spec.values = spec.values.transposed();
    const PlaneGeometry plane = plane_of(rect);
    draw_heatmap_plane(paint_.list, context_.heatmaps, spec, corner(plane), far_corner(plane));
    const auto value = [&](Index i) { return figures_.maximum->flat(i); };
    const ColorTable& table = color_table(spec.color_map, spec.theme);
    // A sink may be larger than every score: then the bar has no colour for it.
    const auto beyond = [&](Index i) { return std::isfinite(value(i)) && value(i) > spec.range.hi; };
    for (Index i = 0; i < count_; ++i)
      if (beyond(i)) paint_.fill(Box(cell(plane, i)), context_.palette.field);
    write(
        plane, {cell_decimals(spec.range), fewer_cell_decimals(spec.range)},
        [&](Index i, int decimals) {
          return std::isfinite(value(i)) ? cell_number(value(i), decimals, false) : std::string();
        },
        [&](Index i) {
          return beyond(i) ? context_.palette.text : ink_on(color_at(value(i), spec.range, table));
        },
        "stage/softmax/max");
    caption(rect, "max");
  }

  void sums(const RectF& rect) const {
    caption(rect, "Σ exp");
    const PlaneGeometry plane = plane_of(rect);
    const auto sum = [&](Index i) { return figures_.exp_sum[static_cast<std::size_t>(i)]; };
    const bool written = write(
        plane, {2, 1, 0}, [&](Index i, int decimals) { return decimal_text(sum(i), decimals); },
        [&](Index) { return context_.palette.text; }, "stage/softmax/sum");
    if (written) return;
    // A bar for each, as long as its share of the largest possible sum: one for every key.
    const Index keys = across_ ? scores_.matrix.view.rows : scores_.matrix.view.cols;
    for (Index i = 0; i < count_; ++i) {
      if (!std::isfinite(sum(i))) continue;
      const RectF box = cell(plane, i);
      const double share = std::clamp(sum(i) / static_cast<double>(std::max<Index>(keys, 1)), 0.0, 1.0);
      const double width = across_ ? box.width : share * box.width;
      const double top = across_ ? box.y + (1.0 - share) * box.height : box.y;
      paint_.fill({float(box.x), float(top)}, {float(box.x + width), float(box.y + box.height)},
                  context_.palette.bar);
    }
  }

  const PanelContext& context_;
  const SoftmaxFigures& figures_;
  const StagePart& scores_;
  Painter paint_;
  bool across_ = false;
  std::vector<RectF> rects_;
  Index count_ = 0;
};

// The height in pixels from which on a row's figures are written as numbers.
double least_figure_row(const PanelContext& context) {
  return std::max(sizes.back() * context.fonts.mono_small->FontSize, least_pixels);
}

// How many of the two fit with a number per query; the maximum is always drawn, because it has a colour.
int softmax_figure_count(const PanelContext& context, Index queries, double length) {
  return static_cast<double>(queries) * least_figure_row(context) < length * 0.6 ? 2 : 1;
}

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
  shape.presentation = context.presentation;
  shape.bias_row = content.bias.has_value();
  if (content.row_figures) shape.row_figures = softmax_figure_count(context, shape.rows, area.height);
  if (content.col_figures) shape.col_figures = softmax_figure_count(context, shape.cols, 0.6 * area.width);
  if (content.sink) (content.sink->matrix.transposed ? shape.sink_column : shape.sink_row) = true;
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
  if (result.spec.mask) {
    const bool chosen = result.spec.blocked_at == std::numeric_limits<double>::infinity();
    shape.legend_width = cell_legend_width(context, chosen ? "not chosen" : "blocked: −∞");
  }
  const StagePart& first = content.left ? *content.left : result;
  shape.row_label_width = row_label_width(context, first, shape.rows);
  if (result.col_labels) shape.col_label_width = column_label_width(context, *result.col_labels, shape.cols);
  if (content.left && content.left->col_labels)
    shape.left_col_label_width = column_label_width(context, *content.left->col_labels, *shape.left_cols);
  if (content.above && content.above->row_labels && !content.cell_for_cell)
    shape.above_label_width = label_width(context, *content.above->row_labels, *shape.above_rows);
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

void draw_softmax_figures(const PanelContext& context, const SoftmaxFigures& figures, const StagePart& scores,
                          const StageLayout& layout) {
  if (figures.exp_sum.empty() || (layout.row_figures.empty() && layout.col_figures.empty())) return;
  Figures(context, figures, scores, layout).draw();
}

}  // namespace headwise
