#include "app/stage/veiled_stage.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/widgets/fitted_clauses.h"
#include "app/widgets/measure.h"
#include "app/widgets/ui_probe.h"

namespace headwise {
namespace {

// The borders of the cells, unless they are so small that they would be all borders.
void draw_borders(const PanelContext& context, const PlaneGeometry& plane) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = std::max(1.0f, std::round(context.scale));
  const double least = 5.0 * context.scale;  // pixels
  const ImU32 border = im_color(context.palette.border);
  if (plane.height >= least * static_cast<double>(plane.rows)) {
    for (Index row = 1; row < plane.rows; ++row) {
      const auto y = static_cast<float>(plane.cell(row, 0).y);
      list->AddLine({corner(plane).x, y}, {far_corner(plane).x, y}, border, line);
    }
  }
  if (plane.width >= least * static_cast<double>(plane.cols)) {
    for (Index col = 1; col < plane.cols; ++col) {
      const auto x = static_cast<float>(plane.cell(0, col).x);
      list->AddLine({x, corner(plane).y}, {x, far_corner(plane).y}, border, line);
    }
  }
}

}  // namespace

bool veil_covers_stage(const PanelContext& context) {
  if (!context.veil) return false;
  const Selection& selection = context.selection;
  if (selection.step > context.veil->from) return true;
  const bool before = selection.step < context.veil->from;
  switch (selection.view) {
    case StageView::one_head:
      return false;
    case StageView::all_heads:
    case StageView::memory:
      return !before;
    default:
      return true;  // they show the scores, the weights or the output, whatever the step
  }
}

bool veil_covers_result(const PanelContext& context) {
  return context.veil && !veil_covers_stage(context) && context.selection.step == context.veil->from;
}

void veil_result(StageContent& content) {
  content.veiled = true;
  content.head_total = 0;
  content.bars.clear();
  content.row_figures = content.col_figures = content.mask_to_come = false;
}

void draw_veil(const PanelContext& context, const RectF& area, const PlaneGeometry* cells,
               const std::optional<std::pair<Index, Index>>& cell) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context.palette;
  const float line = std::max(1.0f, std::round(context.scale));
  list->AddRectFilled(corner(area), far_corner(area), im_color(palette.control));
  list->AddRect(corner(area), far_corner(area), im_color(palette.border), 0.0f, 0, line);
  if (cells) draw_borders(context, *cells);
  const float room = static_cast<float>(area.width) - 12.0f * context.scale;
  ImFont* sign = context.fonts.title;
  ImFont* font = context.fonts.small;
  const char* told = cells ? "hidden until you point at a cell" : "hidden until you answer";
  const std::string words = fitted_clauses(told, font, room);
  const ImVec2 middle(static_cast<float>(area.x + area.width / 2),
                      static_cast<float>(area.y + area.height / 2));
  const ImVec2 at(std::floor(middle.x - width_of(font, words) / 2), std::floor(middle.y + 2 * context.scale));
  const ImVec2 mark(std::floor(middle.x - width_of(sign, "?") / 2), std::floor(middle.y - sign->FontSize));
  list->AddText(sign, sign->FontSize, mark, im_color(palette.text), "?");
  list->AddText(font, font->FontSize, at, im_color(palette.text_dim), words.c_str());
  ui_says(words, at);
  ui_probe("stage/veil", corner(area), far_corner(area));
  if (!cells || !cell) return;
  const RectF rect = cells->cell(cell->first, cell->second);
  list->AddRect(corner(rect), far_corner(rect), im_color(palette.focus), 0.0f, 0, 2 * line);
}

}  // namespace headwise
