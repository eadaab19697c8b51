#include "app/stage/thumbnail_marks.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/content/stage_matrix.h"
#include "app/widgets/ui_probe.h"

namespace headwise {

void draw_thumbnail_marks(const PanelContext& context, const HeadGrid& grid,
                          const std::vector<StagePart>& parts) {
  if (!context.reach) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = std::max(1.0f, std::round(context.scale * context.palette.stroke));
  const auto mark = [&](std::size_t head, const BoxRef& box, float opacity) {
    const StageMatrix& matrix = parts[head].matrix;
    const auto drawn = drawn_box(matrix, box);
    if (!drawn) return;
    const RectF thumbnail = grid.thumbnail(static_cast<Index>(head));
    const RectF rect = plane_geometry(thumbnail, matrix.view.rows, matrix.view.cols).rect(*drawn);
    // One cell of a thumbnail may be a few pixels wide: the outline lies around it, on a hairline of the ground.
    const ImVec2 min(static_cast<float>(rect.x) - line, static_cast<float>(rect.y) - line);
    const ImVec2 max(static_cast<float>(rect.x + rect.width) + line,
                     static_cast<float>(rect.y + rect.height) + line);
    list.AddRect({min.x - line, min.y - line}, {max.x + line, max.y + line},
                 im_color(context.palette.panel, 0.8f), 0.0f, 0, line);
    list.AddRect(min, max, im_color(context.palette.focus, opacity), 0.0f, 0, line);
    ui_probe("heads/way", static_cast<int>(head), min, max);
  };
  for (std::size_t head = 0; head < parts.size(); ++head) {
    for (const BoxRef& box : context.reach->forward) mark(head, box, 0.6f);
    for (const BoxRef& box : context.reach->back) mark(head, box, 1.0f);
  }
}

}  // namespace headwise
