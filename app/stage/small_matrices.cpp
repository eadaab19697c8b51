#include "app/stage/small_matrices.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/stage/stage_drawing.h"
#include "app/widgets/heatmap_view.h"

namespace headwise {

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

RectF small_rect(const RectF& whole, std::size_t i, std::size_t count, double scale) {
  const double width = whole.width / static_cast<double>(count);
  const double gap = std::min(6.0 * scale, 0.25 * width);
  return {whole.x + width * static_cast<double>(i) + gap / 2, whole.y, width - gap, whole.height};
}

void draw_chosen_small(const PanelContext& context, const StageContent& content,
                       const std::vector<StagePart>& small, const RectF& whole) {
  const Index sharing = std::max<Index>(1, context.trace.options.num_heads / static_cast<Index>(small.size()));
  const auto at = static_cast<std::size_t>(context.selection.head / sharing);
  if (at >= small.size()) return;
  const PlaneGeometry plane = part_plane(small_rect(whole, at, small.size(), context.scale), small[at]);
  const CellBox all{0, plane.rows, 0, plane.cols};
  draw_box_outline(context.widgets(), ImGui::GetWindowDrawList(), plane, all,
                   im_color(tensor_hue(context.palette, content.result->matrix.name.id)),
                   std::max(1.0f, std::round(context.scale)));
}

}  // namespace headwise
