#include "app/stage/veiled_stage.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "app/panels/answer_mask.h"
#include "app/stage/stage_cells.h"
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

// The query and the key of a drawn cell.
std::pair<Index, Index> pair_of(const StagePart& part, Index row, Index col) {
  const CellRef cell = cell_at(part.matrix, row, col);
  return {cell.index[cell.index.size() - 2], cell.index.back()};
}

// A stroke over the pairs. A fast one skips some between two frames: all on its path from the last one are painted.
void paint_pairs(const PanelContext& context, const StagePart& part,
                 const std::optional<std::pair<Index, Index>>& cell, AnswerMask& mask) {
  if (!cell_held(context)) mask.painting = false;
  if (!cell) return;
  const auto [query, key] = pair_of(part, cell->first, cell->second);
  if (cell_pressed(context) && mask.has(query, key)) {
    mask.painting = mask.touched = true;
    mask.blocks = !mask.blocked[mask.place(query, key)];
    mask.last = {query, key};
  }
  if (!mask.painting) return;
  const Index rows = query - mask.last.first, columns = key - mask.last.second;
  const Index steps = std::max<Index>({std::abs(rows), std::abs(columns), 1});
  for (Index i = 0; i <= steps; ++i) {
    const auto part_of = [&](Index all) {
      return static_cast<Index>(std::lround(static_cast<double>(all * i) / static_cast<double>(steps)));
    };
    const Index at_row = mask.last.first + part_of(rows), at_column = mask.last.second + part_of(columns);
    if (mask.has(at_row, at_column)) mask.blocked[mask.place(at_row, at_column)] = mask.blocks;
  }
  mask.last = {query, key};
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

void veil_result(const Veil& veil, StageContent& content) {
  content.veiled = true;
  content.head_total = 0;
  content.bars.clear();
  content.row_figures = content.col_figures = content.mask_to_come = false;
  for (std::optional<StagePart>* operand : {&content.left, &content.above})
    if (veil.mask && *operand && veil.hides((*operand)->matrix.name)) operand->reset();
}

void draw_veil(const PanelContext& context, const RectF& area, const VeiledCells& shown) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& palette = context.palette;
  const float line = std::max(1.0f, std::round(context.scale));
  list->AddRectFilled(corner(area), far_corner(area), im_color(palette.control));
  list->AddRect(corner(area), far_corner(area), im_color(palette.border), 0.0f, 0, line);
  if (shown.cells) draw_borders(context, *shown.cells);
  if (shown.told) {
    const float room = static_cast<float>(area.width) - 12.0f * context.scale;
    ImFont* sign = context.fonts.title;
    ImFont* font = context.hall ? context.fonts.caption : context.fonts.small;
    const std::string words = fitted_clauses(shown.told, font, room);
    const ImVec2 middle(static_cast<float>(area.x + area.width / 2),
                        static_cast<float>(area.y + area.height / 2));
    const ImVec2 at(std::floor(middle.x - width_of(font, words) / 2), std::floor(middle.y + 2 * context.scale));
    const ImVec2 mark(std::floor(middle.x - width_of(sign, "?") / 2), std::floor(middle.y - sign->FontSize));
    list->AddText(sign, sign->FontSize, mark, im_color(palette.text), "?");
    list->AddText(font, font->FontSize, at, im_color(palette.text_dim), words.c_str());
    ui_says(words, at);
  }
  ui_probe("stage/veil", corner(area), far_corner(area));
  if (!shown.cells || !shown.cell) return;
  const RectF rect = shown.cells->cell(shown.cell->first, shown.cell->second);
  list->AddRect(corner(rect), far_corner(rect), im_color(palette.focus), 0.0f, 0, 2 * line);
}

void draw_mask_to_paint(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  AnswerMask& mask = *context.answer_mask;
  const auto cell = plane_cell_looked_at(context, "result", plane);
  paint_pairs(context, part, cell, mask);
  const RectF area{static_cast<double>(plane.x), static_cast<double>(plane.y),
                   static_cast<double>(plane.width), static_cast<double>(plane.height)};
  draw_veil(context, area, {&plane, {}, mask.touched ? nullptr : "hidden: paint the pairs that are blocked"});
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = std::max(1.0f, std::round(context.scale));
  const ImU32 ground = im_color(context.palette.text_faint), cross = im_color(context.palette.text);
  const ImU32 outside = im_color(context.palette.panel);
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const auto [query, key] = pair_of(part, row, col);
      const RectF rect = plane.cell(row, col);
      const ImVec2 min = corner(rect), max = far_corner(rect);
      if (!mask.has(query, key)) {
        list->AddRectFilled(min, max, outside);  // is not asked for
      } else if (mask.blocked[mask.place(query, key)]) {
        list->AddRectFilled(min, max, ground);
        list->AddLine(min, max, cross, line);
        list->AddLine({min.x, max.y}, {max.x, min.y}, cross, line);
      }
    }
  }
  if (!cell) return;
  const RectF rect = plane.cell(cell->first, cell->second);
  list->AddRect(corner(rect), far_corner(rect), im_color(context.palette.focus), 0.0f, 0, 2 * line);
}

void draw_wrong_pairs(const PanelContext& context, const StagePart& part, const PlaneGeometry& plane) {
  const AnswerMask& mask = *context.answer_mask;
  if (mask.wrong.empty() || !is_pair_map(part.matrix)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = std::max(2.0f, std::round(2.0f * context.scale * context.palette.stroke));
  const float inset = std::floor(line / 2);
  for (Index row = 0; row < plane.rows; ++row) {
    for (Index col = 0; col < plane.cols; ++col) {
      const auto [query, key] = pair_of(part, row, col);
      if (!mask.has(query, key) || !mask.wrong[mask.place(query, key)]) continue;
      const RectF rect = plane.cell(row, col);
      const ImVec2 min = corner(rect), max = far_corner(rect);
      list->AddRect({min.x + inset, min.y + inset}, {max.x - inset, max.y - inset},
                    im_color(context.palette.error), 0.0f, 0, line);
    }
  }
  ui_probe("stage/wrong_pairs", corner(plane), far_corner(plane));
}

}  // namespace headwise
