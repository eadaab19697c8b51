// Many heads against one wide head on the same parameters.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/sheets/comparison_sheet.h"
#include "app/widgets/figures_table.h"
#include "app/widgets/heatmap_plane.h"
#include "app/widgets/text_column.h"
#include "app/widgets/ui_probe.h"
#include "core/answers/traced_inputs.h"

namespace headwise {
namespace {

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

// One attention map with its caption above; `width` in pixels, as high as its rows need but no higher than wide.
void draw_map(const PanelContext& context, int number, const TensorPtr& weights, Index batch, Index head,
              float width, const std::string& caption) {
  ImFont* font = context.fonts.small;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  list->AddText(font, font->FontSize, at, im_color(context.palette.text_dim), caption.c_str());
  ui_says(caption, at);
  HeatmapSpec spec;
  const std::array<Index, 2> leading{batch, head};
  spec.values = matrix_view(weights, leading);
  spec.color_map = ColorMap::viridis;
  spec.range = range_of_maps(weights, batch);
  spec.theme = context.theme;
  const float top = at.y + std::round(font->FontSize * 1.5f);
  const ImVec2 max{at.x + width, top + width};
  if (spec.values.rows > 0 && spec.values.cols > 0)
    draw_heatmap_plane(list, context.heatmaps, spec, {at.x, top}, max);
  ui_probe("comparison/map", number, {at.x, top}, max);
  ImGui::Dummy({width, max.y - at.y});
}

void draw_maps(const PanelContext& context, const HeadWidthComparison& c) {
  const WidgetContext widgets = context.widgets();
  const TensorPtr& many = c.many.trace->tensors.attn_weights;
  const Index head = std::clamp<Index>(context.selection.head, 0, c.many.heads - 1);
  const Index batch = context.selection.batch;
  if (many->shape().size(0) == 0) return;
  const float room = ImGui::GetContentRegionAvail().x, gap = widgets.px(16);
  const float width = std::floor(std::min(widgets.px(190), 0.5f * (room - gap)));
  if (width < widgets.px(40)) return;
  ImGui::BeginGroup();
  draw_map(context, 0, many, batch, head, width, with_colours(fmt::format("head {}", head), many, batch));
  ImGui::EndGroup();
  ImGui::SameLine(0.0f, gap);
  ImGui::BeginGroup();
  const TensorPtr& wide = c.wide.trace->tensors.attn_weights;
  draw_map(context, 1, wide, batch, 0, width, with_colours("one wide head", wide, batch));
  ImGui::EndGroup();
  TextColumn column(widgets);
  column.space(4);
  column.paragraph(
      fmt::format("max |Δ| between the two: {:.3g}", c.map_differences[static_cast<std::size_t>(head)]),
      context.palette.text_dim);
}

}  // namespace

void draw_head_width_comparison(const PanelContext& context, const HeadWidthComparison& c) {
  const WidgetContext widgets = context.widgets();
  if (c.possible()) {
    const std::array rows{side(c.many), side(c.wide)};
    draw_figures(widgets, "comparison/heads", sides, rows);
    ImGui::Dummy({1, widgets.px(8)});
    ImGui::BeginTable("differences", 2, ImGuiTableFlags_SizingStretchSame);
    ImGui::TableNextColumn();
    std::vector<FigureRow> all{distance("output", c.output.difference, c.output.magnitude)};
    all.push_back(distance("attn_weights", *std::ranges::max_element(c.map_differences),
                           largest_magnitude(*c.many.trace->tensors.attn_weights)));
    for (const TensorDistance& gradient : c.gradients) {
      all.push_back(distance("grad." + std::string(tensor_entry(gradient.tensor).name), gradient.difference,
                             gradient.magnitude));
    }
    draw_figures(widgets, "comparison/differences", distances, all);
    ImGui::TableNextColumn();
    draw_maps(context, c);
    ImGui::EndTable();
    ImGui::Dummy({1, widgets.px(6)});
  }
  TextColumn column(widgets);
  for (const std::string& sentence : c.sentences) column.paragraph(sentence);
}

}  // namespace headwise
